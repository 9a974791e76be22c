"""Policies for connect four.

Positions are two integers, the discs of each player, with bit ``7 * column + height`` for a cell; the seventh bit of a column
stays empty. A few shifts then find all legal moves, and all cells that complete a line.
"""

from agents.baselines.board import Greedy
from agents.policy import ScriptedPolicy
from llmarena_envs.connect_four.game import COLUMNS, ROWS
from llmarena_envs.core.board import BoardView, other_mark
from llmarena_envs.core.options import check_int

CELLS = ROWS * COLUMNS
WIN = 1000
"""Value of a win at the first ply, reduced by one per ply to prefer quick wins."""

_COLUMN_BITS = ROWS + 1
_BOTTOM = sum(1 << _COLUMN_BITS * column for column in range(COLUMNS))
_COLUMN_MASKS = [((1 << ROWS) - 1) << _COLUMN_BITS * column for column in range(COLUMNS)]
_BOARD = sum(_COLUMN_MASKS)
_CENTRAL_FIRST = sorted(range(COLUMNS), key=lambda column: abs(column - COLUMNS // 2))
_MASKS_CENTRAL_FIRST = [_COLUMN_MASKS[column] for column in _CENTRAL_FIRST]
_CENTRE = _COLUMN_MASKS[3]
_MIDDLE = _COLUMN_MASKS[2] | _COLUMN_MASKS[3] | _COLUMN_MASKS[4]


def discs(board: str, mark: str) -> int:
    """Returns the discs of ``mark`` on a board of 42 characters (see ``BoardView``) as bits."""
    bits = 0
    for cell, owner in enumerate(board):
        if owner == mark:
            row, column = divmod(cell, COLUMNS)
            bits |= 1 << _COLUMN_BITS * column + ROWS - 1 - row
    return bits


def landing(filled: int) -> int:
    """Returns the lowest free cell of every column that is not full: adding to a column carries to that cell."""
    return (filled + _BOTTOM) & _BOARD


def columns_of(cells: int) -> list[int]:
    """Returns the columns that hold one of ``cells``."""
    return [column for column in range(COLUMNS) if cells & _COLUMN_MASKS[column]]


def completing(mine: int, filled: int) -> int:
    """Returns the free cells, reachable or not, that would complete a line of four for ``mine``."""
    cells = (mine << 1) & (mine << 2) & (mine << 3)  # on top of three
    for step in (_COLUMN_BITS - 1, _COLUMN_BITS, _COLUMN_BITS + 1):
        before = (mine << step) & (mine << 2 * step)
        after = (mine >> step) & (mine >> 2 * step)
        cells |= before & ((mine << 3 * step) | (mine >> step))
        cells |= after & ((mine >> 3 * step) | (mine << step))
    return cells & _BOARD & ~filled


def evaluate(mine: int, theirs: int) -> int:
    """Returns a heuristic value of a position for the owner of ``mine``, within -200 to 200.

    Counts the free cells that would complete a line, and the discs in the three middle columns, the centre twice.
    """
    filled = mine | theirs
    lines = completing(mine, filled).bit_count() - completing(theirs, filled).bit_count()
    middle = (mine & _MIDDLE).bit_count() - (theirs & _MIDDLE).bit_count()
    centre = (mine & _CENTRE).bit_count() - (theirs & _CENTRE).bit_count()
    return 4 * lines + middle + centre


def search(
    mine: int, theirs: int, depth: int, alpha: int, beta: int, table: dict[tuple[int, int], tuple[int, int]]
) -> int:
    """Returns the value of a position for the player to move, by alpha-beta search with a transposition table.

    Args:
        mine: discs of the player to move.
        theirs: discs of the opponent, without a line of four.
        depth: number of plies to search; leaf positions are valued by ``evaluate``.
        alpha: lower bound of the search window.
        beta: upper bound of the search window.
        table: bounds (low, high) on the values of positions by ``(mine, theirs)``. Valid for one search, where every position has
            a single depth.

    Returns:
        ``WIN`` minus the number of discs on the board after a win, the negative for a loss, 0 for a draw, else an estimate. If
        the value lies outside ``alpha..beta``, a bound on it.
    """
    filled = mine | theirs
    moves = landing(filled)
    if not moves:
        return 0
    if depth == 0:
        return evaluate(mine, theirs)
    if completing(mine, filled) & moves:
        return WIN - filled.bit_count() - 1
    if depth > 1:
        threats = completing(theirs, filled) & moves
        if threats & (threats - 1):  # more than one cannot be blocked
            return -(WIN - filled.bit_count() - 2)
        moves = threats or moves
    key = mine, theirs
    low, high = table.get(key, (-WIN, WIN))
    if low >= beta or low == high:
        return low
    if high <= alpha:
        return high
    best = -WIN
    floor = alpha
    for column in _MASKS_CENTRAL_FIRST:
        move = moves & column
        if move:
            value = -search(theirs, mine | move, depth - 1, -beta, -floor, table)
            if value > best:
                best = value
                if value > floor:
                    floor = value
                    if value >= beta:
                        break
    table[key] = (best if best > alpha else low, best if best < beta else high)
    return best


def best_columns(mine: int, theirs: int, depth: int) -> tuple[int, list[int]]:
    """Returns the value of an unfinished position, as in ``search``, and every column that reaches it."""
    filled = mine | theirs
    moves = landing(filled)
    wins = completing(mine, filled) & moves
    if wins:
        return WIN - filled.bit_count() - 1, columns_of(wins)
    best, columns = -WIN, list[int]()
    table: dict[tuple[int, int], tuple[int, int]] = {}
    for column in _CENTRAL_FIRST:
        move = moves & _COLUMN_MASKS[column]
        if move:
            # The window includes values equal to the best one, to detect ties.
            value = -search(theirs, mine | move, depth - 1, -WIN, 1 - best, table)
            if value > best:
                best, columns = value, [column]
            elif value == best:
                columns.append(column)
    return best, columns


def proved(mine: int, theirs: int, depth: int) -> int | None:
    """Returns the proved value of an unfinished position for the player to move.

    Args:
        mine: as in ``search``.
        theirs: as in ``search``.
        depth: number of plies to search.

    Returns:
        1 for a win, -1 for a loss, 0 for a draw, which needs a search to the end of the game; ``None`` if nothing is proved.
    """
    surely = WIN - CELLS  # value of the slowest win, far above any estimate
    if search(mine, theirs, depth, surely - 1, surely, {}) >= surely:
        return 1
    if search(mine, theirs, depth, -surely, 1 - surely, {}) <= -surely:
        return -1
    return 0 if depth >= CELLS - (mine | theirs).bit_count() else None


def winning_columns(board: str, mark: str) -> list[int]:
    """Returns the columns where a disc of ``mark`` completes a line of four on a board of 42 characters."""
    mine, theirs = discs(board, mark), discs(board, other_mark(mark))
    return columns_of(completing(mine, mine | theirs) & landing(mine | theirs))


class GreedyConnectFour(Greedy):
    """Wins, else blocks, else takes the most central column."""

    preference = tuple(-abs(column - COLUMNS // 2) for column in range(COLUMNS))
    winning = staticmethod(winning_columns)


class Minimax(ScriptedPolicy):
    """Plays a best move within its search depth, drawn from equally good ones.

    Args:
        depth: number of plies to search, 1 to 42.
    """

    def __init__(self, depth: int = 5) -> None:
        check_int("depth", depth, 1, CELLS)
        self.depth = depth

    def __call__(self, view: BoardView) -> int:
        """Returns a best column."""
        mine, theirs = discs(view.board, view.mark), discs(view.board, other_mark(view.mark))
        return self.choose(best_columns(mine, theirs, self.depth)[1])


BASELINES = {"greedy": GreedyConnectFour, "minimax": Minimax}
