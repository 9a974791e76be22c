"""The context of the rules of the conformance suite: the environment under test, its seeds, and failures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from llmarena_envs.core.errors import ArenaError

Totals = Callable[[Any], Mapping[str, float]]
"""``expected_totals(game)``: the expected total reward of each agent in a match played to its end."""

Move = Callable[[Any, np.random.Generator], Any]
"""Chooses the action of the selected agent."""

ALL_POSITIONS = 32
"""Number of turns before positions are left out."""

SHOWN = 600
"""Maximum number of characters of a value in an error."""


class ConformanceError(ArenaError, AssertionError):
    """A failed rule of the conformance suite.

    Attributes:
        rule: name of the rule, a function of this package.
        place: position of the failure, e.g. ``seed 3, turn 4, player_1``.
        expected: expected value.
        got: actual value.
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
    """Returns the ``repr`` of a value for errors, shortened in the middle if it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} ... {text[-SHOWN // 2 :]}"


def is_over(env: Any) -> bool:
    """Says whether the match has ended; agents can still have to collect their last rewards."""
    return not env.agents or any(env.terminations.values()) or any(env.truncations.values())


def agents_to_move(env: Any) -> list[str]:
    """Returns the agents to move according to their views: several in a simultaneous stage."""
    return [agent for agent in env.possible_agents if env.unwrapped.view(agent).to_move]


def random_move(env: Any, rng: np.random.Generator) -> Any:
    """Draws a legal action for the selected agent; ``None`` once the match is over."""
    return None if is_over(env) else env.unwrapped.random_action(env.agent_selection, rng)


def act_and_finish_stage(env: Any, action: Any, rng: np.random.Generator) -> None:
    """Steps with ``action``, and with random moves for the remaining agents of the stage."""
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
        options: options of both.
        seeds: seeds of the matches.
        chance: whether the game has chance events; ``None`` to infer it from its generator.
        reward_range: lowest and highest sum of an agent's rewards over a match, or ``None``.
        zero_sum: whether the rewards of a match add up to 0.
        expected_totals: see ``Totals``, or ``None``.
        skip: names of rules that are not checked.
        rule: name of the current rule.
        seed: seed of the current match.
        turn: number of turns taken in it.
    """

    env_fn: Callable[..., Any]
    parallel_env_fn: Callable[..., Any] | None
    options: Mapping[str, Any]
    seeds: Sequence[int]
    chance: bool | None = None
    reward_range: tuple[float, float] | None = None
    zero_sum: bool = False
    expected_totals: Totals | None = None
    skip: frozenset[str] = frozenset()
    rule: str = ""
    seed: int | None = None
    turn: int | None = None

    def make(self, **more: Any) -> Any:
        """Makes a new environment with the options under test and ``more``."""
        return self.env_fn(**{**self.options, **more})

    def play(self, env: Any, seed: int, move: Move = random_move) -> Iterator[None]:
        """Plays one seeded match, by default of random legal moves; yields at every position, finally without agents."""
        env.reset(seed=seed)
        self.seed, self.turn = seed, 0
        yield
        yield from self.play_on(env, np.random.default_rng(seed), move)

    def play_on(self, env: Any, rng: np.random.Generator, move: Move = random_move) -> Iterator[None]:
        """Plays a match to its end, by default with random legal moves; yields after every step, finally without agents."""
        turns, bound = 0, env.unwrapped.max_turns
        while env.agents:
            turns += not is_over(env)
            if turns > bound:
                self.fail(f"the match to end within max_turns = {bound} turns", "it goes on")
            self.turn = turns
            env.step(move(env, rng))
            yield

    def positions(self, **more: Any) -> Iterator[Any]:
        """Yields an environment at positions of a random match for every seed.

        These are the first 32 turns, later turns with a gap that grows by one, and the end: long matches repeat themselves.
        """
        for seed in self.seeds:
            env, following, gap = self.make(**more), 0, 1
            for _ in self.play(env, seed):
                if self.turn == following:
                    gap += following >= ALL_POSITIONS
                    following += gap
                elif not is_over(env):
                    continue
                yield env

    @property
    def is_rare_turn(self) -> bool:
        """Whether rules that are too slow for every position look at this one: after 0, 1, 2, 4, 8, ... turns."""
        turn = self.turn or 0
        return turn & (turn - 1) == 0

    def place(self, agent: str | None = None) -> str:
        """Returns the present position of the trial."""
        parts = [
            f"seed {self.seed}" if self.seed is not None else "",
            f"turn {self.turn}" if self.turn is not None else "",
            agent or "",
        ]
        return ", ".join(part for part in parts if part) or "construction"

    def fail(self, expected: str, got: object, agent: str | None = None) -> NoReturn:
        """Raises a ``ConformanceError`` for the present position."""
        raise ConformanceError(self.rule, self.place(agent), expected, got if isinstance(got, str) else shown(got))

    def expect(self, condition: object, expected: str, got: object, agent: str | None = None) -> None:
        """Fails unless ``condition`` holds."""
        if not condition:
            self.fail(expected, got, agent)
