"""The rules of connect four."""

from functools import cache

import numpy as np

from llmarena_envs.core.board import EMPTY, MARKS, BoardView
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import check_int

ROWS = 6
COLUMNS = 7
MAX_OPENING = 6
"""Maximum number of random plies before play: no win is possible within six."""

# Each player's discs are one integer, bit 7 * column + height per cell. The seventh bit of a column stays empty as a border:
# lines cannot cross from one column's top into the next.
_COLUMN_BITS = ROWS + 1
DIRECTIONS = (1, _COLUMN_BITS - 1, _COLUMN_BITS, _COLUMN_BITS + 1)


def has_four(discs: int) -> bool:
    """Returns whether four of the discs form a line."""
    for step in DIRECTIONS:
        pairs = discs & (discs >> step)
        if pairs & (pairs >> 2 * step):
            return True
    return False


@cache  # at most 3^7 rows
def open_cells(top_row: str) -> tuple[int, ...]:
    """Returns the columns whose top cell is empty."""
    return tuple(column for column in range(COLUMNS) if top_row[column] == EMPTY)


class ConnectFour(Game[int, BoardView]):
    """A position of connect four; an action is a column, counted from 0.

    Args:
        random_opening: number of random plies before play, 0 to 6.

    Attributes:
        board: as in ``BoardView``.
        moves: the played columns.
        heights: number of discs in each column.
        discs: the discs of each player as bits ``7 * column + height``: a second form of the board, for fast
            search of lines.
    """

    agents = ("player_0", "player_1")
    num_actions = COLUMNS
    max_turns = ROWS * COLUMNS
    perfect_information = True

    def __init__(self, random_opening: int = 0) -> None:
        check_int("random_opening", random_opening, 0, MAX_OPENING)
        self.random_opening = random_opening
        self.has_chance = random_opening > 0

    def reset(self, rng: np.random.Generator) -> None:
        """Clears the board and plays the random opening."""
        self.board = EMPTY * (ROWS * COLUMNS)
        self.moves: tuple[int, ...] = ()
        self.heights: tuple[int, ...] = (0,) * COLUMNS
        self.discs = (0, 0)
        self.to_move = ("player_0",)
        self.rewards = (0.0, 0.0)
        for _ in range(self.random_opening):
            columns = self.open_columns()
            self.apply((columns[int(rng.integers(len(columns)))],))

    def open_columns(self) -> tuple[int, ...]:
        """Returns the columns that are not full."""
        return open_cells(self.board[:COLUMNS])

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why a column is illegal."""
        if not 0 <= action < COLUMNS:
            return Reason("off_board", {"columns": COLUMNS})
        if self.heights[action] == ROWS:
            return Reason("full", {"column": action + 1})
        return None

    def apply(self, actions: tuple[int, ...]) -> None:
        """Drops the mover's disc into a column."""
        (column,) = actions
        mover = len(self.moves) % 2
        heights = list(self.heights)
        height = heights[column]
        heights[column] += 1
        cell = (ROWS - 1 - height) * COLUMNS + column
        self.board = self.board[:cell] + MARKS[mover] + self.board[cell + 1 :]
        self.heights = tuple(heights)
        mine = self.discs[mover] | 1 << column * _COLUMN_BITS + height
        self.discs = (mine, self.discs[1]) if mover == 0 else (self.discs[0], mine)
        self.moves += (column,)
        if has_four(mine):
            self.to_move = ()
            self.rewards = (1.0, -1.0) if mover == 0 else (-1.0, 1.0)
        elif len(self.moves) == ROWS * COLUMNS:
            self.to_move = ()
        else:
            self.to_move = (self.agents[1 - mover],)

    def view(self, agent: str) -> BoardView:
        """Returns the full position for ``agent``."""
        to_move = agent in self.to_move
        mark = MARKS[self.agents.index(agent)]
        return BoardView(agent, to_move, self.open_columns() if to_move else (), mark, self.board, self.moves)
