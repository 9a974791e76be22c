"""What the scripted players of the two board games share."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from agents.policy import ScriptedPolicy
from llmarena_envs.core.board import BoardView, other_mark


class Greedy(ScriptedPolicy):
    """Wins if it can at once, else blocks such a win of the opponent, else takes the most preferred place.

    Attributes:
        preference: how much each action is liked when there is nothing to win and nothing to block.
    """

    preference: ClassVar[Sequence[int]]

    @staticmethod
    @abstractmethod
    def winning(board: str, mark: str) -> list[int]:
        """Returns the legal actions by which ``mark`` would complete a line, were it to move."""

    def __call__(self, view: BoardView) -> int:
        """Returns an action; equally good ones are drawn from."""
        for mark in (view.mark, other_mark(view.mark)):
            actions = self.winning(view.board, mark)
            if actions:
                return self.choose(actions)
        most = max(self.preference[action] for action in view.legal)
        return self.choose([action for action in view.legal if self.preference[action] == most])
