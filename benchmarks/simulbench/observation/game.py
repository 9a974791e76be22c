"""The rules: an observer reads a whole dialogue and names its first challenging turn, or none."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.committee import Abstention
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.simulation.dialogues import Dialogue

OBSERVER = "observer_0"
UNKNOWN = -1.0
"""Value of an unknown statistic."""


class Finding(NamedTuple):
    """An observer's finding.

    Attributes:
        turn: the first challenging turn, counted from 1; 0 for none.
        text: its words, including the turn.
    """

    turn: int
    text: str


Found = Finding | Abstention
"""An action."""


class ObserverView(NamedTuple):
    """View of the observer.

    Attributes:
        agent: the observer.
        to_move: whether its finding is due.
        legal: empty, since texts cannot be listed.
        dialogue: the whole dialogue; its ``engine`` names the exact engine, if there is one. No text reveals it.
    """

    agent: str
    to_move: bool
    legal: tuple[Found, ...]
    dialogue: Dialogue


class Observation(Game[Found, ObserverView]):
    """The observation of one dialogue.

    Source: SimulBench (arXiv 2409.07641, section 2.4).

    Args:
        dialogue: the dialogue.

    Attributes:
        found: the observer's finding; ``None`` before its turn.
    """

    agents = (OBSERVER,)
    max_turns = 1
    perfect_information = True

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue

    def reset(self, rng: np.random.Generator) -> None:
        """Begins a match; draws nothing at random."""
        self.found: Found | None = None
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0,)
        self.undecided = False

    def view(self, agent: str) -> ObserverView:
        """Returns the dialogue."""
        return ObserverView(agent, agent in self.to_move, (), self.dialogue)

    def why_illegal(self, agent: str, action: Found) -> Reason | None:
        """Returns the reason against a turn outside the dialogue."""
        if isinstance(action, Finding) and not 0 <= action.turn <= self.dialogue.turns:
            return Reason("no_such_turn", {"turns": self.dialogue.turns, "got": action.turn})
        return None

    def random_action(self, agent: str, rng: np.random.Generator) -> Found:
        """Draws a turn, or none."""
        return Finding(int(rng.integers(self.dialogue.turns + 1)), "Reasons without meaning.")

    def default_action(self, agent: str) -> Found:
        """Returns an abstention."""
        return Abstention()

    def apply(self, actions: tuple[Found, ...]) -> None:
        """Records the finding; without one the match has no result."""
        (self.found,) = actions
        self.to_move, self.undecided = (), isinstance(self.found, Abstention)

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the turn of the finding, and the number of turns."""
        finding = self.found if isinstance(self.found, Finding) else None
        return {
            "turn": float(finding.turn) if finding else UNKNOWN,
            "turns": float(self.dialogue.turns),
            "abstained": UNKNOWN if self.found is None else float(isinstance(self.found, Abstention)),
        }
