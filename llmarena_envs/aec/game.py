"""An AEC environment behind the game contract."""

from typing import Any, NamedTuple, Self

import numpy as np
from gymnasium import spaces

from llmarena_envs.aec.inner import AecError, Inner
from llmarena_envs.aec.limits import limits_of
from llmarena_envs.aec.listing import LISTED
from llmarena_envs.aec.rendering import rendering_of
from llmarena_envs.aec.rendering.observed import observed
from llmarena_envs.aec.source import Source
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.grid import Part
from llmarena_envs.core.named_moves import Spellings, reason_of_number
from llmarena_envs.core.options import OptionError, check_int

MAX_OPENING = 20
"""Maximum number of random moves before play."""


class AecView(NamedTuple):
    """The view of an agent.

    Attributes:
        agent: the agent.
        to_move: whether it is to move.
        legal: its legal actions if it is to move.
        names: their names.
        spellings: further accepted spellings, each with the index of its legal action.
        parts: the position, as far as the agent sees it.
        moves: the moves of all agents if they are public; else empty.
        turn: number of moves before.
    """

    agent: str
    to_move: bool
    legal: tuple[int, ...]
    names: tuple[str, ...]
    spellings: Spellings
    parts: tuple[Part, ...]
    moves: tuple[str, ...]
    turn: int


class AecGame(Game[int, AecView]):
    """A position of an AEC environment; actions are numbered as there.

    Every match has an environment of its own. Copies of a listed game copy its attributes; copies of any other environment replay
    the actions from the seed.

    Args:
        source: the environment.
        random_opening: number of random moves before play; none of them ends the match.
        max_turns: number of turns after which the match ends with the rewards so far; 0 for the bound of the game.

    Attributes:
        seed: seed of the environment's reset in this match.
        observation_space: space of the environment's own observation of the first agent, without the action mask.
        facts: values for the placeholders of the rules.

    Raises:
        DependencyNotInstalled: if a package of a listed game is not installed.
        OptionError: if the environment cannot be made or does not fit.
    """

    _inner: Inner | None

    def __init__(self, source: Source, random_opening: int = 0, max_turns: int = 0) -> None:
        check_int("random_opening", random_opening, 0, MAX_OPENING)
        self.source = source
        self.name = f"aec/{source.module}"
        self.random_opening = random_opening
        self._listed = listed = LISTED.get(source.module)
        self._rendering = rendering_of(source.module)
        try:
            first = self._begin(0)
        except AecError as error:
            raise OptionError(str(error)) from error
        self._ids = tuple(first.env.possible_agents)
        self.agents = tuple(map(str, self._ids))
        if not all(name.isidentifier() for name in self.agents) or len(set(self.agents)) < len(self.agents):
            raise OptionError(f"{self.name}: expected agents with different names, e.g. player_0, got {self._ids}")
        self.num_actions: int = max(int(first.env.action_space(agent).n) for agent in self._ids)
        space = first.env.observation_space(self._ids[0])
        self.observation_space = space["observation"] if isinstance(space, spaces.Dict) else space
        self.facts = self._rendering.facts(first.env.unwrapped)
        limits = limits_of(source.module, first.env.unwrapped)
        self.max_turns = max_turns or limits.max_turns
        if listed is not None:
            self.max_turns = min(self.max_turns, limits.max_turns)
        self._lowest = limits.lowest
        self.perfect_information = listed is not None and listed.perfect_information
        self.has_chance = listed is None or listed.has_chance or random_opening > 0

    def _begin(self, seed: int) -> Inner:
        listed = self._listed
        masked = listed is None or listed.masked
        return Inner(self.source.make(), seed, self.name, self._rendering, masked)

    @property
    def inner(self) -> Inner:
        """The match of the environment; after a copy it is played again at first use.

        Raises:
            AecError: if the environment does not repeat itself.
        """
        if self._inner is None:
            inner = self._begin(self.seed)
            for action in self._history:
                if action not in inner.legal:
                    raise AecError(
                        f"{self.name}: expected the same match after reset({self.seed}) and the same actions, but action"
                        f" {action} is not legal; the environment has to draw all chance from the seed of reset"
                    )
                inner.step(action)
            self._inner = inner
        return self._inner

    def reset(self, rng: np.random.Generator) -> None:
        """Begins a match with a new environment, and plays the random opening."""
        self.seed = int(rng.integers(2**31)) if self.has_chance else 0
        self._inner = self._begin(self.seed)
        self._history: tuple[int, ...] = ()
        self._moves: tuple[str, ...] = ()
        self._turns = 0
        self._totals = (0.0,) * len(self.agents)
        for _ in range(self.random_opening):
            self._open(rng)
        self._update()

    def _open(self, rng: np.random.Generator) -> None:
        """Plays one random move, unless it ends the match."""
        action = int(rng.choice(self.inner.legal))
        before = self._history, self._moves, self._inner
        self._inner = None if self._listed is None else self.inner.clone()
        self._play(action)
        if self.inner.mover is None:
            self._history, self._moves, self._inner = before

    def _play(self, action: int) -> None:
        inner = self.inner
        if self._listed is not None and self._listed.public_moves:
            name = self._rendering.names(inner.env, str(inner.mover), (action,))[0]
            self._moves += (f"{inner.mover} {name}",)
        inner.step(action)
        self._history += (action,)

    def _update(self) -> None:
        """Sets the agent to move and the rewards since the last move."""
        inner, before = self.inner, self._totals
        self._views: dict[str, AecView] = {}
        self._totals = inner.totals()
        self.rewards = tuple([now - then for now, then in zip(self._totals, before, strict=True)])
        over = inner.mover is None or self._turns >= self.max_turns
        self.to_move = () if over else (self.agents[self._ids.index(inner.mover)],)
        self._legal = () if over else inner.legal

    def apply(self, actions: tuple[int, ...]) -> None:
        """Plays the action of the agent to move."""
        self._play(actions[0])
        self._turns += 1
        self._update()

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why an action is illegal."""
        return reason_of_number(self, agent, action)

    def legal_actions(self, agent: str) -> tuple[int, ...]:
        """Returns the legal actions if ``agent`` is to move."""
        return self._legal if agent in self.to_move else ()

    def view(self, agent: str) -> AecView:
        """Returns the view of ``agent``."""
        if agent not in self._views:
            self._views[agent] = self._make_view(agent)
        return self._views[agent]

    def _make_view(self, agent: str) -> AecView:
        to_move, legal = agent in self.to_move, self.legal_actions(agent)
        env, identity = self.inner.env, self._ids[self.agents.index(agent)]
        rendering = self._rendering
        names = rendering.names(env, identity, legal)
        spellings = rendering.spellings(env, identity, legal, names)
        return AecView(agent, to_move, legal, names, spellings, self.parts(agent), self._moves, len(self._history))

    def parts(self, agent: str) -> tuple[Part, ...]:
        """Returns the position as ``agent`` sees it."""
        identity = self._ids[self.agents.index(agent)]
        inner = self.inner
        if self.source.ansi:
            return (inner.rendered(),)
        render = self._rendering.render
        return render(inner.env, identity) if render else observed(inner.observe(identity))

    def random_action(self, agent: str, rng: np.random.Generator) -> int:
        """Draws a legal action, uniformly."""
        return self._legal[int(rng.integers(len(self._legal)))]

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Returns the last rewards of a forfeited match.

        In a listed game the offender ends with the lowest total of the game, and in a zero-sum game of two players the other
        player receives what the offender loses. In any other environment the rewards are those of ``Game.forfeit``.
        """
        if self._listed is None:
            return super().forfeit(offenders)
        return self.forfeit_to(self._lowest, self._totals, offenders, zero_sum=self._listed.zero_sum)

    def observation(self, agent: str) -> Any:
        """Returns the environment's own observation, without its action mask."""
        seen = self.inner.observe(self._ids[self.agents.index(agent)])
        return seen["observation"] if isinstance(seen, dict) and "observation" in seen else seen

    def __copy__(self) -> Self:
        """Returns an independent position."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if "_inner" in self.__dict__:
            twin._views = dict(self._views)
            twin._inner = self._inner.clone() if self._inner is not None and self._listed is not None else None
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Returns the seed and the actions in place of the environment."""
        values = {name: value for name, value in self.__dict__.items() if name not in ("_rendering", "_views")}
        return {**values, "_inner": None} if "_inner" in values else values

    def __setstate__(self, values: dict[str, Any]) -> None:
        """Sets the position; the environment is played again at first use."""
        self.__dict__.update(values)
        self._rendering = rendering_of(self.source.module)
        self._views = {}
