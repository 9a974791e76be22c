"""The rules of tic-tac-toe."""

from functools import cache

import numpy as np

from llmarena_envs.core.board import EMPTY, MARKS, BoardView
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import check_int

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MAX_OPENING = 4
"""Maximum number of random plies before play: no win is possible within four."""


@cache  # at most 3^9 boards
def free_cells(board: str) -> tuple[int, ...]:
    """Returns the indices of the empty cells."""
    return tuple(cell for cell in range(9) if board[cell] == EMPTY)


@cache
def has_line(board: str) -> bool:
    """Returns whether either mark has three in a row."""
    return any(board[a] == board[b] == board[c] != EMPTY for a, b, c in LINES)


def to_pettingzoo(action: int) -> int:
    """Converts a cell to PettingZoo's tictactoe, which numbers cells by column."""
    return action % 3 * 3 + action // 3


def from_pettingzoo(action: int) -> int:
    """Converts a cell of PettingZoo's tictactoe to ours."""
    return action % 3 * 3 + action // 3


class TicTacToe(Game[int, BoardView]):
    """A position of tic-tac-toe; an action is a cell, ``3 * (row - 1) + (column - 1)``.

    Args:
        random_opening: number of random plies before play, 0 to 4.

    Attributes:
        board: as in ``BoardView``.
        moves: the taken cells.
    """

    agents = ("player_0", "player_1")
    num_actions = 9
    max_turns = 9
    perfect_information = True

    def __init__(self, random_opening: int = 0) -> None:
        check_int("random_opening", random_opening, 0, MAX_OPENING)
        self.random_opening = random_opening
        self.has_chance = random_opening > 0

    def reset(self, rng: np.random.Generator) -> None:
        """Clears the board and plays the random opening."""
        self.board = EMPTY * 9
        self.moves: tuple[int, ...] = ()
        self.to_move = ("player_0",)
        self.rewards = (0.0, 0.0)
        for _ in range(self.random_opening):
            cells = free_cells(self.board)
            self.apply((cells[int(rng.integers(len(cells)))],))

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why a cell is illegal."""
        if not 0 <= action < 9:
            return Reason("off_board")
        if self.board[action] != EMPTY:
            return Reason("taken", {"row": action // 3 + 1, "column": action % 3 + 1})
        return None

    def apply(self, actions: tuple[int, ...]) -> None:
        """Puts the mover's mark on a free cell."""
        (cell,) = actions
        mover = len(self.moves) % 2
        self.board = self.board[:cell] + MARKS[mover] + self.board[cell + 1 :]
        self.moves += (cell,)
        if has_line(self.board):
            self.to_move = ()
            self.rewards = (1.0, -1.0) if mover == 0 else (-1.0, 1.0)
        elif len(self.moves) == 9:
            self.to_move = ()
        else:
            self.to_move = (self.agents[1 - mover],)

    def view(self, agent: str) -> BoardView:
        """Returns the full position for ``agent``."""
        to_move = agent in self.to_move
        mark = MARKS[self.agents.index(agent)]
        return BoardView(agent, to_move, free_cells(self.board) if to_move else (), mark, self.board, self.moves)
