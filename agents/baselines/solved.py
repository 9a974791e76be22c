"""Solved play of the board games: immediate wins and threats, game values, and the effect of a move."""

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
"""Maximum delay of a known win by a connect-four move that still counts as keeping it, in plies."""


class Chances(NamedTuple):
    """Immediate wins and threats for the player to move.

    Attributes:
        wins: actions that complete a line.
        threats: actions that would complete a line of the opponent, were it to move.
        block: the only action that prevents the opponent's win at its next move; ``None`` if the player can win itself, there is
            no threat, or no move helps.
    """

    wins: tuple[int, ...]
    threats: tuple[int, ...]
    block: int | None

    @property
    def unstoppable(self) -> bool:
        """Whether the opponent wins at its next move after any action: by several threats, or on top of a block."""
        return bool(self.threats) and not self.wins and self.block is None


class Change(NamedTuple):
    """The game values of a position before and after a move, for the player who moves.

    Attributes:
        before: ``WON``, ``DRAWN`` or ``LOST`` with best play of both sides; ``None`` if not proved.
        after: the same, for the same player.
    """

    before: int | None
    after: int | None

    @property
    def gives_away(self) -> bool:
        """Whether the position was won, but is not proved won after the move."""
        return self.before == WON and self.after != WON

    @property
    def loses(self) -> bool:
        """Whether the position was not proved lost, but is lost after the move."""
        return self.before != LOST and self.after == LOST


class Solved(ABC):
    """A board game with a cache of solved positions.

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
        """Returns immediate wins and threats for ``mark`` to move; ``board`` as in ``BoardView``."""
        wins, threats = self.winning(board, mark), self.winning(board, other_mark(mark))
        block = None
        if len(threats) == 1 and not wins and not self.winning(self.put(board, threats[0], mark), other_mark(mark)):
            block = threats[0]
        return Chances(tuple(wins), tuple(threats), block)

    def change(self, board: str, mark: str, action: int) -> Change:
        """Returns the game values before and after a legal action of ``mark``."""
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
        """Returns the legal actions that would complete a line of ``mark``, were it to move."""

    @abstractmethod
    def worth(self, board: str, mark: str) -> int | None:
        """Returns the game value for ``mark`` to move."""

    @abstractmethod
    def worth_after(self, board: str, mark: str, action: int, before: int | None) -> int | None:
        """Returns the game value for ``mark`` after its move; ``before`` is the value before it."""

    @abstractmethod
    def cell(self, board: str, action: int) -> int:
        """Returns the index in ``board`` of the cell that an action fills."""


class SolvedTicTacToe(Solved):
    """Tic-tac-toe, solved completely."""

    rows = columns = 3

    def winning(self, board: str, mark: str) -> list[int]:
        """Returns the cells that complete a line."""
        return winning_cells(board, mark)

    def worth(self, board: str, mark: str) -> int:
        """Returns the game value."""
        return _sign(value(board, mark, tictactoe.CELLS))

    def worth_after(self, board: str, mark: str, action: int, before: int | None) -> int:
        """Returns the game value after a move."""
        return _sign(move_value(board, action, mark, tictactoe.CELLS))

    def cell(self, board: str, action: int) -> int:
        """Returns the action, which is a cell."""
        return action


class SolvedConnectFour(Solved):
    """Connect four, solved within a search depth.

    A position is won or lost if this is proved within ``depth`` plies, and drawn if at most that many are left to play. The
    position after a move is searched to the same ply: a move that only delays a loss does not count as its cause. A win can come
    up to ``SLOWER`` plies later than the known one.

    Args:
        depth: number of plies to search, 2 to 42.
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
        """Returns the proved game value."""
        return proved(discs(board, mark), discs(board, other_mark(mark)), self.depth)

    def worth_after(self, board: str, mark: str, action: int, before: int | None) -> int | None:
        """Returns the proved game value after a move."""
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
