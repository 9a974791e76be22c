"""Matrix of policies against, or with, each other: a table in the page and data for a figure."""

from collections.abc import Mapping
from typing import NamedTuple

from rating.schemes import formatting
from rating.schemes.figures import HeadToHead, Matrix
from rating.stats.estimates import Estimate
from rating.stats.results import WinDrawLoss
from rating.viewer.report.names import shortened

_ROOM_FOR_NAMES = 24
"""Maximum columns of a name in the header; row names are not cut."""


class Cell(NamedTuple):
    """Text, lines of detail, and class of the background (``shade-0`` to ``shade-10``, or empty) of a cell."""

    text: str
    detail: str
    shade: str


class PageMatrix(NamedTuple):
    """A note, column names (possibly cut), and rows of full name and cells."""

    note: str
    names: list[str]
    rows: list[tuple[str, list[Cell]]]


def pair_matrix(pairs: HeadToHead, expected: Mapping[tuple[str, str], float]) -> PageMatrix:
    """Returns the matrix of pairwise results.

    Args:
        pairs: pairwise results.
        expected: predicted mean score of the first policy against the second.
    """
    note = "Score of the row against the column, with wins / draws / losses; forfeits count as losses."
    if expected:
        note += " expected: what ratings fitted without the deal of each match predict."
    rows = [
        (name, [_pair_cell(tally, expected.get((name, other))) for other, tally in row.items()])
        for name, row in pairs.table.items()
    ]
    return PageMatrix(note, shortened(list(pairs.table), _ROOM_FOR_NAMES), rows)


def mean_matrix(shown: Matrix) -> PageMatrix:
    """Returns the matrix of a mean for every two policies."""
    known = [cell.value for row in shown.table.values() for cell in row.values() if cell is not None]
    low, high = (0.0, 1.0) if shown.percent else (min(known, default=0.0), max(known, default=1.0))
    rows = [
        (name, [_mean_cell(cell, low, high, percent=shown.percent) for cell in row.values()])
        for name, row in shown.table.items()
    ]
    note = f"{shown.label[:1].upper()}{shown.label[1:]}, with its 95 % interval and (number of matches)."
    return PageMatrix(note, shortened(list(shown.table), _ROOM_FOR_NAMES), rows)


def score_table(pairs: HeadToHead) -> Matrix:
    """Returns the pairwise scores for a figure."""
    table = {
        name: {other: None if tally is None else _score(tally) for other, tally in row.items()}
        for name, row in pairs.table.items()
    }
    return Matrix(table, "score of the row against the column, in %", percent=True)


def _score(tally: WinDrawLoss) -> Estimate:
    return Estimate((tally.wins + tally.draws / 2) / tally.n, None, None, tally.n, tally.n)


def _pair_cell(tally: WinDrawLoss | None, expected: float | None) -> Cell:
    if tally is None:
        return Cell("", "", "")
    score = _score(tally).value
    details = [" / ".join(map(str, tally))]
    details += [] if expected is None else [f"expected {100 * expected:.0f} %"]
    return Cell(f"{100 * score:.0f} %", "\n".join(details), _shade(score))


def _mean_cell(value: Estimate | None, low: float, high: float, *, percent: bool) -> Cell:
    if value is None:
        return Cell("", "", "")
    text, _, detail = (formatting.percent(value) if percent else formatting.estimate(value)).partition(" ")
    return Cell(text, detail, _shade((value.value - low) / (high - low) if high > low else 0.5))


def _shade(share: float) -> str:
    """Returns the class of a background, from a loss (0) over an even score to a win (1)."""
    return f"shade-{round(10 * share)}"
