"""The pair matrix of two-player games."""

from collections.abc import Mapping
from typing import NamedTuple

from rating.statistics.estimates import Tally


class Cell(NamedTuple):
    """One cell: text, wins / draws / losses, and a background colour."""

    text: str
    detail: str
    colour: str


class Matrix(NamedTuple):
    """Names and, for each name, its cells in the order of ``names``."""

    names: list[str]
    rows: list[tuple[str, list[Cell]]]


def pair_matrix(table: Mapping[str, Mapping[str, Tally | None]]) -> Matrix:
    """Returns the matrix of the results of every policy against every other."""
    return Matrix(list(table), [(name, [_cell(tally) for tally in row.values()]) for name, row in table.items()])


def _cell(tally: Tally | None) -> Cell:
    if tally is None:
        return Cell("", "", "transparent")
    score = (tally.wins + tally.draws / 2) / tally.n
    hue = 120 if score >= 0.5 else 0
    return Cell(
        f"{100 * score:.0f} %",
        " / ".join(map(str, tally)),
        f"hsl({hue} 60% {97 - 30 * abs(score - 0.5):.0f}%)",
    )
