"""What every rule of the conformance suite works with: the environment under test, its seeds, and failures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from llmarena_envs.core.errors import ArenaError

Totals = Callable[[Any], Mapping[str, float]]
"""``expected_totals(game)``: what each agent has to have received in a match that was played to its end."""

SHOWN = 600
"""Characters of a value that are shown in an error."""


class ConformanceError(ArenaError, AssertionError):
    """A rule of the conformance suite that an environment breaks.

    Attributes:
        rule: name of the rule, a function of this package.
        place: where it was broken, e.g. ``seed 3, turn 4, player_1``.
        expected: what was expected.
        got: what came.
    """

    def __init__(self, rule: str, place: str, expected: str, got: str) -> None:
        super().__init__(rule, place, expected, got)
        self.rule = rule
        self.place = place
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return f"the rule {self.rule!r} is broken at {self.place}\nexpected: {self.expected}\ngot: {self.got}"


def shown(value: object) -> str:
    """Returns a value as it stands in an error: its ``repr``, cut in the middle if it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} ... {text[-SHOWN // 2 :]}"


def is_over(env: Any) -> bool:
    """Says whether the match has ended; the agents may still have to fetch their last rewards."""
    return not env.agents or any(env.terminations.values()) or any(env.truncations.values())


def agents_to_move(env: Any) -> list[str]:
    """Returns the agents whose views say that they are to act: several in a simultaneous stage."""
    return [agent for agent in env.possible_agents if env.unwrapped.view(agent).to_move]


def random_move(env: Any, rng: np.random.Generator) -> Any:
    """Draws a legal action for the selected agent; ``None`` once the match is over."""
    return None if is_over(env) else env.unwrapped.random_action(env.agent_selection, rng)


def act_and_finish_stage(env: Any, action: Any, rng: np.random.Generator) -> None:
    """Steps with ``action``, and with random moves for all who act at the same stage after the selected agent."""
    stage = agents_to_move(env)
    env.step(action)
    for _ in stage[1:]:
        if is_over(env):
            return
        env.step(random_move(env, rng))


@dataclass
class Trial:
    """One environment under test with one set of options.

    Attributes:
        env_fn: makes the environment.
        parallel_env_fn: makes its parallel form, or ``None``.
        options: options both are made with.
        seeds: seeds of the matches.
        chance: whether chance decides anything in the game; ``None`` to judge by its generator.
        reward_range: least and greatest sum of an agent's rewards over a match, or ``None``.
        zero_sum: whether the rewards of a match add up to 0.
        expected_totals: see ``Totals``, or ``None``.
        rule: name of the rule that is being checked.
        seed: seed of the match that is being looked at.
        turn: turns taken in it.
    """

    env_fn: Callable[..., Any]
    parallel_env_fn: Callable[..., Any] | None
    options: Mapping[str, Any]
    seeds: Sequence[int]
    chance: bool | None = None
    reward_range: tuple[float, float] | None = None
    zero_sum: bool = False
    expected_totals: Totals | None = None
    rule: str = ""
    seed: int | None = None
    turn: int | None = None

    def make(self, **more: Any) -> Any:
        """Makes a new environment with the options under test and ``more``."""
        return self.env_fn(**{**self.options, **more})

    def play(self, env: Any, seed: int) -> Iterator[None]:
        """Plays one seeded match of random legal moves; yields at every position, the last one without agents."""
        env.reset(seed=seed)
        self.seed, self.turn = seed, 0
        yield
        yield from self.play_on(env, np.random.default_rng(seed))

    def play_on(self, env: Any, rng: np.random.Generator) -> Iterator[None]:
        """Plays a match to its end by random legal moves; yields after every step, last when no agent is left."""
        turns, bound = 0, env.unwrapped.max_turns
        while env.agents:
            turns += not is_over(env)
            if turns > bound:
                self.fail(f"the match to end within max_turns = {bound} turns", "it goes on")
            self.turn = turns
            env.step(random_move(env, rng))
            yield

    def positions(self, **more: Any) -> Iterator[Any]:
        """Yields an environment at every position of a random match for every seed, to the very end."""
        for seed in self.seeds:
            env = self.make(**more)
            for _ in self.play(env, seed):
                yield env

    def place(self, agent: str | None = None) -> str:
        """Says where the trial is now."""
        parts = [
            f"seed {self.seed}" if self.seed is not None else "",
            f"turn {self.turn}" if self.turn is not None else "",
            agent or "",
        ]
        return ", ".join(part for part in parts if part) or "construction"

    def fail(self, expected: str, got: object, agent: str | None = None) -> NoReturn:
        """Raises a ``ConformanceError`` for the present place."""
        raise ConformanceError(self.rule, self.place(agent), expected, got if isinstance(got, str) else shown(got))

    def expect(self, condition: object, expected: str, got: object, agent: str | None = None) -> None:
        """Fails unless ``condition`` holds."""
        if not condition:
            self.fail(expected, got, agent)
