"""Solved play of the board games: what a position offers at once, what it is worth, and what a move has made of it."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from agents.baselines import connect_four, tictactoe
from agents.baselines.connect_four import discs, proved, winning_columns
from agents.baselines.tictactoe import move_value, value, winning_cells
from llmarena_envs.connect_four.game import COLUMNS, ROWS
from llmarena_envs.core.board import EMPTY, other_mark
from llmarena_envs.core.options import check_int

WON, DRAWN, LOST = 1, 0, -1

SLOWER = 4
"""Plies by which a move at connect four may delay a win that was seen, and still be seen to keep it."""


class Chances(NamedTuple):
    """What the player to move can win or must block at once.

    Attributes:
        wins: the actions that complete a line.
        threats: the actions by which the opponent would complete one, were it to move.
        block: the action without which the opponent wins at its next move; ``None`` if the player can win itself, if nothing
            threatens, or if no move helps.
    """

    wins: tuple[int, ...]
    threats: tuple[int, ...]
    block: int | None

    @property
    def unstoppable(self) -> bool:
        """Whether the opponent wins at its next move, whatever is played: in one of several places, or on top of a block."""
        return bool(self.threats) and not self.wins and self.block is None


class Change(NamedTuple):
    """What a position was worth to the player to move, and what it is worth after the move.

    Attributes:
        before: ``WON``, ``DRAWN`` or ``LOST``, each with best play of both sides; ``None`` if none of them is proved.
        after: the same, to the same player.
    """

    before: int | None
    after: int | None

    @property
    def gives_away(self) -> bool:
        """Whether the position was won, and is not seen to be any more."""
        return self.before == WON and self.after != WON

    @property
    def loses(self) -> bool:
        """Whether the position was not seen to be lost, and is now."""
        return self.before != LOST and self.after == LOST


class Solved(ABC):
    """A board game with the positions that were solved so far, so that none is solved twice.

    Attributes:
        rows: of the board.
        columns: of the board.
    """

    rows: ClassVar[int]
    columns: ClassVar[int]

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], int | None] = {}
        self._after: dict[tuple[str, str, int], int | None] = {}

    def chances(self, board: str, mark: str) -> Chances:
        """Returns what ``mark``, who is to move, can win or must block at once; ``board`` is that of ``BoardView``."""
        wins, threats = self.winning(board, mark), self.winning(board, other_mark(mark))
        block = None
        if len(threats) == 1 and not wins and not self.winning(self.put(board, threats[0], mark), other_mark(mark)):
            block = threats[0]
        return Chances(tuple(wins), tuple(threats), block)

    def change(self, board: str, mark: str, action: int) -> Change:
        """Returns what a legal action of ``mark`` changes."""
        if (board, mark) not in self._before:
            self._before[board, mark] = self.worth(board, mark)
        before = self._before[board, mark]
        if (board, mark, action) not in self._after:
            self._after[board, mark, action] = self.worth_after(board, mark, action, before)
        return Change(before, self._after[board, mark, action])

    def put(self, board: str, action: int, mark: str) -> str:
        """Returns the board after an action of ``mark``."""
        cell = self.cell(board, action)
        return board[:cell] + mark + board[cell + 1 :]

    @abstractmethod
    def winning(self, board: str, mark: str) -> list[int]:
        """Returns the legal actions by which ``mark`` would complete a line, were it to move."""

    @abstractmethod
    def worth(self, board: str, mark: str) -> int | None:
        """Returns what a position is worth to ``mark``, who is to move."""

    @abstractmethod
    def worth_after(self, board: str, mark: str, action: int, before: int | None) -> int | None:
        """Returns what a position is worth to ``mark`` after its move; ``before`` is what it was worth."""

    @abstractmethod
    def cell(self, board: str, action: int) -> int:
        """Returns the index in ``board`` of the cell that an action fills."""


class SolvedTicTacToe(Solved):
    """Tic-tac-toe, solved to the end."""

    rows = columns = 3

    def winning(self, board: str, mark: str) -> list[int]:
        """Returns the cells that complete a line."""
        return winning_cells(board, mark)

    def worth(self, board: str, mark: str) -> int:
        """Returns what a position is worth."""
        return _sign(value(board, mark, tictactoe.CELLS))

    def worth_after(self, board: str, mark: str, action: int, before: int | None) -> int:
        """Returns what a position is worth after a move."""
        return _sign(move_value(board, action, mark, tictactoe.CELLS))

    def cell(self, board: str, action: int) -> int:
        """Returns the action, which is a cell."""
        return action


class SolvedConnectFour(Solved):
    """Connect four, solved as far as it is looked ahead.

    A position is won or lost if that is proved within ``depth`` plies, and drawn if no more than that are left to play. A move
    is looked at within the same plies, so that a move that only delays a loss has not caused it; a win may come ``SLOWER``
    plies later than the one that was seen.

    Args:
        depth: number of plies to look ahead, 2 to 42.
    """

    rows, columns = ROWS, COLUMNS

    def __init__(self, depth: int) -> None:
        check_int("depth", depth, 2, connect_four.CELLS)
        super().__init__()
        self.depth = depth

    def winning(self, board: str, mark: str) -> list[int]:
        """Returns the columns where a disc completes a line."""
        return winning_columns(board, mark)

    def worth(self, board: str, mark: str) -> int | None:
        """Returns what is proved of a position."""
        return proved(discs(board, mark), discs(board, other_mark(mark)), self.depth)

    def worth_after(self, board: str, mark: str, action: int, before: int | None) -> int | None:
        """Returns what is proved of a position after a move."""
        if action in winning_columns(board, mark):
            return WON
        after = self.put(board, action, mark)
        mine, theirs = discs(after, mark), discs(after, other_mark(mark))
        theirs_now = proved(theirs, mine, self.depth - 1)
        if theirs_now is None and before == WON:
            theirs_now = proved(theirs, mine, self.depth - 1 + SLOWER)
        return None if theirs_now is None else -theirs_now

    def cell(self, board: str, action: int) -> int:
        """Returns the lowest free cell of a column."""
        return max(cell for cell in range(action, len(board), COLUMNS) if board[cell] == EMPTY)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
