"""Players of tic-tac-toe."""

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
    """Returns the free cells that complete a line of ``mark`` on a board on which nobody has one."""
    return [cell for cell in free_cells(board) if has_line(put(board, cell, mark))]


class GreedyTicTacToe(Greedy):
    """Wins, else blocks, else takes the centre, a corner, an edge."""

    preference = (1, 0, 1, 0, 2, 0, 1, 0, 1)
    winning = staticmethod(winning_cells)


@cache
def value(board: str, mark: str, depth: int, alpha: int = -CELLS, beta: int = CELLS) -> int:
    """Returns the value of a position to the player to move, by alpha-beta search.

    Args:
        board: nine cells on which nobody has a line.
        mark: the mark to move.
        depth: number of plies to look ahead; what lies beyond counts as a draw.
        alpha: the player is sure of this much elsewhere.
        beta: the opponent is sure not to have to allow more than this.

    Returns:
        0 for a draw; for a win one more than the cells that are left empty, so that a quick win is worth more than a slow
        one; for a loss the negative of that. If the value lies outside ``alpha..beta``, a bound on it.
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
    """Returns what taking ``cell`` is worth to ``mark``, in the terms of ``value``."""
    after = put(board, cell, mark)
    if has_line(after):
        return len(free_cells(after)) + 1
    return -value(after, other_mark(mark), depth - 1, -beta, -alpha)


class Minimax(ScriptedPolicy):
    """Plays a best move, drawn from all that are equally good; perfect with the full depth.

    Args:
        depth: number of plies it looks ahead, 1 to 9.
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
