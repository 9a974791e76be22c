"""The game contract: rules in plain Python, independent of PettingZoo and of texts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from llmarena_envs.core.failures import Reason


class View(Protocol):
    """One agent's information about a position: an immutable record, a ``NamedTuple`` in every game here.

    Texts, vectors and scripted policies depend on the view only, so a secret that is not in the view cannot leak.
    """

    @property
    def agent(self) -> str:
        """The agent this view belongs to."""

    @property
    def to_move(self) -> bool:
        """Whether the agent is to act now."""

    @property
    def legal(self) -> Sequence[Any]:
        """The legal actions of the agent; empty if it is not to move or if they cannot be listed."""


Action = TypeVar("Action")
"""The action type of a game."""

ViewType = TypeVar("ViewType", bound=View)
"""The view type of a game."""


class _NoChance:
    """Stands for the generator of a game that declares ``has_chance = False``; cannot draw."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name}: expected nothing to be drawn, since the game declares has_chance = False")


NO_CHANCE: Any = _NoChance()
"""A generator that cannot draw."""


class Game(ABC, Generic[Action, ViewType]):
    """The rules and a position of one game; a subclass binds its types, ``class TicTacToe(Game[int, BoardView])``.

    The position consists of immutable values (tuples, strings, integers, or objects that ``__copy__`` copies), so
    ``copy.copy`` gives an independent position for search. A game is deterministic given its generator.

    DeepEval (arXiv 2309.04369) defines a game by functions of histories. Here a history is the sequence of the actions of each
    stage, with a seed for chance: ``next_agents``, ``is_terminal`` and ``payoff`` play it on a copy. Their equivalents for the
    present position are ``to_move``, ``not to_move``, and the sum of ``rewards`` over all stages.

    Attributes:
        agents: every agent, in seat order; constant.
        to_move: the agents who act at the present stage, in seat order: one in a turn-based stage, several in a
            simultaneous one, none when the game is over.
        rewards: each agent's reward for the last ``apply``, in the order of ``agents``.
        num_actions: size of the action set ``0..num_actions - 1``, or ``None`` if actions are not enumerated.
        max_turns: published upper bound on the number of agent turns of a match under the game's options.
        undecided: whether a finished match has no result, e.g. because every judge abstained: it is counted and not rated.
        perfect_information: whether every agent knows all past events and the future depends only on the agents' actions;
            pending moves of a simultaneous stage are not secrets, because ``apply`` gets them together.
        has_chance: whether ``reset`` draws from its generator; without, the environment passes ``NO_CHANCE``.
    """

    agents: tuple[str, ...]
    to_move: tuple[str, ...]
    rewards: tuple[float, ...]
    num_actions: int | None = None
    max_turns: int
    undecided: bool = False
    perfect_information: bool = False
    has_chance: bool = True

    @abstractmethod
    def reset(self, rng: np.random.Generator) -> None:
        """Sets up the first position; ``rng`` is the source of every chance event of the match."""

    @abstractmethod
    def view(self, agent: str) -> ViewType:
        """Returns the view of ``agent``, also if it is not to move; see ``View``."""

    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Returns the reason why ``action`` is not legal for ``agent``, or ``None`` if it is legal.

        By default the actions in ``view(agent).legal`` are legal. Games whose actions cannot be listed override this, and games
        that tell players a more specific reason.

        ``action`` has the right type but can have any value. Rules contain no texts: the reason names the text
        ``reason_<name>`` of the prompt files, which the codec shows to the player.
        """
        return None if action in self.view(agent).legal else Reason("not_legal")

    @abstractmethod
    def apply(self, actions: tuple[Action, ...]) -> None:
        """Applies one legal action for each agent of ``to_move``, and updates ``to_move`` and ``rewards``."""

    def after(self, history: Sequence[tuple[Action, ...]], seed: int) -> tuple[Self, tuple[float, ...]]:
        """Returns the position after a history and each agent's total reward; this position is unchanged.

        Args:
            history: the legal actions of each stage, in the order of ``to_move``.
            seed: seed of the generator for ``reset``, as in ``TextEnv.reset``.
        """
        position, received = copy(self), (0.0,) * len(self.agents)
        position.reset(np.random.default_rng(seed))
        for actions in history:
            position.apply(actions)
            received = tuple(map(sum, zip(received, position.rewards, strict=True)))
        return position, received

    def next_agents(self, history: Sequence[tuple[Action, ...]], seed: int) -> tuple[str, ...]:
        """Returns the agents to move after a history: several at a simultaneous stage, none at the end."""
        return self.after(history, seed)[0].to_move

    def is_terminal(self, history: Sequence[tuple[Action, ...]], seed: int) -> bool:
        """Says whether the game is over after a history."""
        return not self.next_agents(history, seed)

    def payoff(self, history: Sequence[tuple[Action, ...]], seed: int) -> dict[str, float]:
        """Returns each agent's total reward over a history; for a terminal history, its payoff."""
        return dict(zip(self.agents, self.after(history, seed)[1], strict=True))

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Returns the last rewards of a match that ends because ``offenders`` acted illegally.

        An offender receives -1; the opponent in a two-player game +1, any other agent 0. Games where a forfeit would then cost
        less than a loss override this.
        """
        two_players = len(self.agents) == 2 and len(offenders) == 1
        return tuple(-1.0 if agent in offenders else float(two_players) for agent in self.agents)

    def forfeit_to(
        self, lowest: float, totals: Sequence[float], offenders: tuple[str, ...], *, zero_sum: bool
    ) -> tuple[float, ...]:
        """Returns the last rewards of a forfeited match whose offenders end with the lowest total of the game.

        Args:
            lowest: the lowest total.
            totals: the total of each agent so far.
            offenders: the agents who acted illegally.
            zero_sum: whether the other player of two receives what the only offender loses; otherwise others receive 0.
        """
        losses = [
            lowest - total if agent in offenders else 0.0 for agent, total in zip(self.agents, totals, strict=True)
        ]
        if len(losses) == 2 and len(offenders) == 1 and zero_sum:
            losses[1 - self.agents.index(offenders[0])] = -sum(losses)
        return tuple(losses)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws all information hidden from ``agent``: others' secrets and future chance events.

        The result is a position in the agent's information set: its view, its statistics and the agents to move are unchanged,
        and the match can continue. Values fixed by options but unknown to agents, such as a deck, are redrawn as well. Used
        for search over hidden information (determinisation) and by the conformance suite to find leaks. Games of perfect
        information leave the position unchanged.

        Raises:
            NotImplementedError: if the game has hidden information and does not define this.
        """
        if not self.perfect_information:
            raise NotImplementedError(
                f"{type(self).__name__}: expected resample(agent, rng), since the game does not declare perfect_information"
            )

    def sampled(self, agent: str, rng: np.random.Generator) -> Self:
        """Returns a copy with all information hidden from ``agent`` redrawn; see ``resample``."""
        position = copy(self)
        position.resample(agent, rng)
        return position

    def legal_actions(self, agent: str) -> Sequence[Action]:
        """Returns ``view(agent).legal``; games whose views are costly override this for search."""
        legal: Sequence[Action] = self.view(agent).legal
        return legal

    def random_action(self, agent: str, rng: np.random.Generator) -> Action:
        """Draws a legal action for ``agent``; games whose actions cannot be listed override this."""
        legal = self.legal_actions(agent)
        return legal[int(rng.integers(len(legal)))]

    def default_action(self, agent: str) -> Action | None:
        """Returns a harmless legal action for an agent without a valid reply, or ``None``."""
        return None

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns analysis values of ``agent`` for ``infos``: numbers that are not part of the reward.

        The keys are the same throughout a match; a value that is not yet available, or still secret, is a sentinel number.
        """
        return {}
