"""The sections of the report: a table, its figures and its matrix of pairs for each environment."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from rating.records.outcome import Outcome
from rating.report import figures
from rating.report.matrix import pair_matrix
from rating.report.tables import sheet
from rating.schemes.figures import Grid, Intervals, Pairs, Trajectories
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary


def table_section(board: Leaderboard | Summary) -> dict[str, Any]:
    """Returns what the page's template needs to show a table."""
    shown = sheet(board)
    return {
        "name": shown.title,
        "note": ". ".join(shown.notes),
        "headings": shown.header,
        "rows": shown.rows,
        "figures": [],
        "grids": [],
        "matrix": None,
    }


def leaderboard_section(board: Leaderboard, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Returns what the template needs to show a leaderboard with its figures; ``outcomes`` are those it was made from."""
    section = table_section(board)
    for figure in board.figures(outcomes):
        match figure:
            case Intervals(rows, label):
                names, values, lows, highs = zip(*rows, strict=True)
                section["figures"].append(Markup(figures.intervals(names, values, lows, highs, label)))
            case Trajectories(history, label):
                section["figures"].append(Markup(figures.trajectories(history, label)))
            case Grid():
                section["grids"].append(figure)
            case Pairs(table):
                section["matrix"] = pair_matrix(table)
    return section
