"""Policies for tic-tac-toe."""

from functools import cache

from agents.baselines.board import Greedy
from agents.policy import ScriptedPolicy
from llmarena_envs.core.board import BoardView, other_mark
from llmarena_envs.core.options import check_int
from llmarena_envs.tictactoe.game import free_cells, has_line

CELLS = 9


def put(board: str, cell: int, mark: str) -> str:
    """Returns the board with ``mark`` on ``cell``."""
    return board[:cell] + mark + board[cell + 1 :]


def winning_cells(board: str, mark: str) -> list[int]:
    """Returns the free cells that complete a line of ``mark`` on a board without a line."""
    return [cell for cell in free_cells(board) if has_line(put(board, cell, mark))]


class GreedyTicTacToe(Greedy):
    """Wins, else blocks, else prefers the centre, a corner, an edge."""

    preference = (1, 0, 1, 0, 2, 0, 1, 0, 1)
    winning = staticmethod(winning_cells)


@cache
def value(board: str, mark: str, depth: int, alpha: int = -CELLS, beta: int = CELLS) -> int:
    """Returns the value of a position for the player to move, by alpha-beta search.

    Args:
        board: nine cells without a line.
        mark: the mark to move.
        depth: number of plies to search; later positions count as draws.
        alpha: lower bound of the search window.
        beta: upper bound of the search window.

    Returns:
        0 for a draw; for a win the number of empty cells left plus one (quick wins are worth more); the negative for a loss. If
        the value lies outside ``alpha..beta``, a bound on it.
    """
    cells = free_cells(board)
    if depth == 0 or not cells:
        return 0
    best = -CELLS
    for cell in cells:
        best = max(best, move_value(board, cell, mark, depth, max(alpha, best), beta))
        if best >= beta:
            break
    return best


def move_value(board: str, cell: int, mark: str, depth: int, alpha: int = -CELLS, beta: int = CELLS) -> int:
    """Returns the value of taking ``cell`` for ``mark``, as in ``value``."""
    after = put(board, cell, mark)
    if has_line(after):
        return len(free_cells(after)) + 1
    return -value(after, other_mark(mark), depth - 1, -beta, -alpha)


class Minimax(ScriptedPolicy):
    """Plays a best move, drawn from equally good ones; perfect with the full depth.

    Args:
        depth: number of plies to search, 1 to 9.
    """

    def __init__(self, depth: int = CELLS) -> None:
        check_int("depth", depth, 1, CELLS)
        self.depth = depth

    def __call__(self, view: BoardView) -> int:
        """Returns a best move."""
        values = {cell: move_value(view.board, cell, view.mark, self.depth) for cell in view.legal}
        best = max(values.values())
        return self.choose([cell for cell in view.legal if values[cell] == best])


BASELINES = {"greedy": GreedyTicTacToe, "minimax": Minimax}
