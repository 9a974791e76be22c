"""The pair matrix of two-player games."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rating.records.outcome import FINISHED, Outcome


class Cell(NamedTuple):
    """One cell: text, wins / draws / losses, and a background colour."""

    text: str
    detail: str
    colour: str


class Matrix(NamedTuple):
    """Names and, for each name, its cells in the order of ``names``."""

    names: list[str]
    rows: list[tuple[str, list[Cell]]]


def pair_matrix(outcomes: Sequence[Outcome]) -> Matrix | None:
    """Returns the matrix of a game between two policies, or ``None`` for another kind of game."""
    results: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for outcome in outcomes:
        if len(outcome.seats) != 2:
            return None
        if outcome.status == FINISHED:
            first, second = outcome.seats
            result = (first.reward < second.reward) * 2 + (first.reward == second.reward)
            results[first.policy, second.policy][result] += 1
            results[second.policy, first.policy][2 - result] += 1
    names = sorted({name for pair in results for name in pair})
    return Matrix(names, [(row, [_cell(results.get((row, column))) for column in names]) for row in names])


def _cell(result: list[int] | None) -> Cell:
    if result is None:
        return Cell("", "", "transparent")
    wins, draws, losses = result
    score = (wins + draws / 2) / (wins + draws + losses)
    hue = 120 if score >= 0.5 else 0
    return Cell(
        f"{100 * score:.0f} %", f"{wins} / {draws} / {losses}", f"hsl({hue} 60% {97 - 30 * abs(score - 0.5):.0f}%)"
    )
