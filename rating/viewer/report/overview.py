"""The first screen of the page: who is best, how sure, at what cost, and what went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.stats.estimates import Estimate, Rating
from rating.viewer.answer import answers, size
from rating.viewer.report.costs import Costs, policy_cells, total_cells
from rating.viewer.report.figures import bars
from rating.viewer.report.tables import Sheet, brief_sheet

_NO_RESULTS = "No match has ended yet."


@dataclass(frozen=True)
class Overview:
    """The first screen.

    Attributes:
        size: number of policies, games and matches, and the cost.
        answers: which policy is best, or that no match has ended.
        table: scores over all games, or the main columns of the only leaderboard; ``None`` if there is neither.
        bars: the interval of each row of the table as a small figure; empty for a row without one.
        warnings: doubts about the results, with the game.
    """

    size: str
    answers: Sequence[str]
    table: Sheet | None
    bars: Sequence[Markup]
    warnings: Sequence[str]


def overview(boards: Sequence[Leaderboard], summary: Summary | None, spent: Costs | None) -> Overview:
    """Returns the first screen.

    Args:
        boards: the leaderboard of each game.
        summary: scores over all games; ``None`` for a single one.
        spent: costs of the models; ``None`` if no model was called.
    """
    tables: list[Leaderboard | Summary] = [*boards, *([summary] if summary is not None else [])]
    sheets = [brief_sheet(board, boards, policy_cells(spent, board.environment)) for board in boards]
    warnings = [f"{board.environment}: {note}" for board, own in zip(boards, sheets, strict=True) for note in own.notes]
    table: Sheet | None = None
    shown: Sequence[Estimate | Rating | None] = []
    if summary is not None and any(row.score for row in summary.rows):
        table = brief_sheet(summary, boards, total_cells(spent))
        shown = [row.score for row in summary.rows]
        warnings += table.notes
    elif len(boards) == 1:
        (board,), (table,) = boards, sheets
        shown = [None if row.withheld else row.rating if board.is_rated else row.reward for row in board.rows]
    said = answers(tables) if boards else [_NO_RESULTS]
    return Overview(size(tables, spent), said, table, _bars(shown), warnings)


def _bars(shown: Sequence[Estimate | Rating | None]) -> list[Markup]:
    drawn = bars([None if one is None else (one.value, one.low, one.high) for one in shown])
    return [Markup(svg) for svg in drawn]
