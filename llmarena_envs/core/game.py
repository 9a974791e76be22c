"""The game contract: rules in plain Python, apart from PettingZoo and from every text."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from llmarena_envs.core.failures import Reason


class View(Protocol):
    """What one agent may know of a position now: an immutable record, a ``NamedTuple`` in every game here.

    Texts, vectors and scripted policies are made from the view and from nothing else, so a secret that is not in the
    view cannot leak.
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
"""What a game calls an action."""

ViewType = TypeVar("ViewType", bound=View)
"""What a game calls a view."""


class Game(ABC, Generic[Action, ViewType]):
    """The rules of one game and one position of it; a game names its types, ``class TicTacToe(Game[int, BoardView])``.

    The position is held in immutable values (tuples, strings, integers, or objects that ``__copy__`` copies), so that
    ``copy.copy`` gives an independent position to search in. A game is deterministic given its generator.

    DeepEval (arXiv 2309.04369) defines a game by functions of histories. Here a history is the sequence of the actions of each
    stage, with a seed for chance: ``next_agents``, ``is_terminal`` and ``payoff`` play it on a copy. For the present position the
    same are ``to_move``, ``not to_move``, and the sum of ``rewards`` over all stages.

    Attributes:
        agents: every agent, in seat order; constant.
        to_move: the agents who act at the present stage, in seat order: one in a turn-based stage, several in a
            simultaneous one, none when the game is over.
        rewards: what each agent received by the last ``apply``, in the order of ``agents``.
        num_actions: size of the action set ``0..num_actions - 1``, or ``None`` where actions are not enumerated.
        max_turns: published upper bound on the number of agent turns of a match under the game's options.
        undecided: whether a match that is over has no result, e.g. since every judge abstained: it is counted and not rated.
        perfect_information: whether every agent knows everything that has happened and all that is still to come depends on
            what agents do; the moves of a simultaneous stage are not secrets, as the rules learn of them when all are there.
    """

    agents: tuple[str, ...]
    to_move: tuple[str, ...]
    rewards: tuple[float, ...]
    num_actions: int | None = None
    max_turns: int
    undecided: bool = False
    perfect_information: bool = False

    @abstractmethod
    def reset(self, rng: np.random.Generator) -> None:
        """Sets up the first position; every chance event of the match is drawn from ``rng``."""

    @abstractmethod
    def view(self, agent: str) -> ViewType:
        """Returns what ``agent`` may know now, whoever is to move; see ``View``."""

    @abstractmethod
    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Returns the reason why ``action`` is not legal for ``agent``, or ``None`` if it is legal.

        ``action`` has the right type but may hold any value. Rules hold no texts: the reason names the text ``reason_<name>``
        of the prompt files, which the codec shows to the player who is asked again.
        """

    @abstractmethod
    def apply(self, actions: tuple[Action, ...]) -> None:
        """Applies one legal action for each agent of ``to_move``, and sets ``to_move`` and ``rewards`` anew."""

    def after(self, history: Sequence[tuple[Action, ...]], seed: int) -> tuple[Self, tuple[float, ...]]:
        """Returns the position after a history and what each agent has received by then; this position stays.

        Args:
            history: the actions of each stage, in the order of ``to_move``; legal ones.
            seed: of the generator that ``reset`` is given, as ``TextEnv.reset`` makes it.
        """
        position, received = copy(self), (0.0,) * len(self.agents)
        position.reset(np.random.default_rng(seed))
        for actions in history:
            position.apply(actions)
            received = tuple(map(sum, zip(received, position.rewards, strict=True)))
        return position, received

    def next_agents(self, history: Sequence[tuple[Action, ...]], seed: int) -> tuple[str, ...]:
        """Returns who acts after a history: several agents at a simultaneous stage, none at the end."""
        return self.after(history, seed)[0].to_move

    def is_terminal(self, history: Sequence[tuple[Action, ...]], seed: int) -> bool:
        """Says whether the game is over after a history."""
        return not self.next_agents(history, seed)

    def payoff(self, history: Sequence[tuple[Action, ...]], seed: int) -> dict[str, float]:
        """Returns what each agent has received over a history; for a terminal one, its payoff."""
        return dict(zip(self.agents, self.after(history, seed)[1], strict=True))

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Returns the last rewards of a match that ends because ``offenders`` acted illegally.

        An offender receives -1; the opponent in a two-player zero-sum game +1, anybody else 0. Games where that would
        be cheaper than losing override this.
        """
        two_players = len(self.agents) == 2 and len(offenders) == 1
        return tuple(-1.0 if agent in offenders else float(two_players) for agent in self.agents)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws all that ``agent`` cannot know: what others hold or said in secret, and what chance has still to deal.

        The position becomes another one that the agent could as well be in: its view, its statistics and who is to move stay the
        same, and the match can be played on. What options fix without telling anybody, such as a deck, is redrawn as well. So
        search can be done over what is hidden (determinisation), and the conformance suite finds whatever leaks. Games of perfect
        information leave the position as it is.

        Raises:
            NotImplementedError: if the game hides something and does not say how it is redrawn.
        """
        if not self.perfect_information:
            raise NotImplementedError(
                f"{type(self).__name__}: expected resample(agent, rng), since the game does not declare perfect_information"
            )

    def random_action(self, agent: str, rng: np.random.Generator) -> Action:
        """Draws a legal action for ``agent``; games whose actions cannot be listed override this."""
        legal: Sequence[Action] = self.view(agent).legal
        return legal[int(rng.integers(len(legal)))]

    def default_action(self, agent: str) -> Action | None:
        """Returns the harmless legal action that may be played for an agent who gave none, or ``None`` if there is none."""
        return None

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns analysis values of ``agent`` for ``infos``: numbers that are not part of the reward.

        The keys are the same throughout a match; a value that is not there yet, or still secret, has a number that says so.
        """
        return {}
