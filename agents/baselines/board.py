"""Shared code of the scripted policies for the two board games."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from agents.policy import ScriptedPolicy
from llmarena_envs.core.board import BoardView, other_mark


class Greedy(ScriptedPolicy):
    """Wins at once if possible, else blocks an immediate win of the opponent, else takes the most preferred place.

    Attributes:
        preference: preference for each action if there is nothing to win or block.
    """

    preference: ClassVar[Sequence[int]]

    @staticmethod
    @abstractmethod
    def winning(board: str, mark: str) -> list[int]:
        """Returns the legal actions that would complete a line of ``mark``, were it to move."""

    def __call__(self, view: BoardView) -> int:
        """Returns an action, drawn from equally good ones."""
        for mark in (view.mark, other_mark(view.mark)):
            actions = self.winning(view.board, mark)
            if actions:
                return self.choose(actions)
        most = max(self.preference[action] for action in view.legal)
        return self.choose([action for action in view.legal if self.preference[action] == most])
