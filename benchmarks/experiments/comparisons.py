"""Differences between players on the same cases, each with an interval and a permutation test."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from benchmarks.experiments.permutation import paired_permutation_test
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table
from rating.stats.estimates import UNBOUNDED, mean_estimate
from rating.stats.simultaneous import holm


class PlayerComparison(NamedTuple):
    """Values of two players in the same cases.

    Attributes:
        first: one player.
        second: the other.
        values: pairs of values, one per case.
        clusters: group of each case, e.g. its deal.
    """

    first: str
    second: str
    values: Sequence[tuple[float, float]]
    clusters: Sequence[Hashable]


def comparison_table(
    comparisons: Sequence[PlayerComparison],
    value: str,
    group: str,
    *,
    scale: tuple[float, float] = UNBOUNDED,
    name: str = "tests",
    decimals: int = 2,
    notes: Sequence[str] = (),
) -> Table:
    """Returns the difference of every pair of players with common cases, with an interval and a permutation test.

    Args:
        comparisons: pairs of players; a pair without cases is left out.
        value: name of the compared value, with its unit.
        group: name of a group of cases, e.g. ``match``.
        scale: least and greatest possible difference.
        name: of the table.
        decimals: of the differences.
        notes: further notes of the table.
    """
    found = []
    for item in comparisons:
        numbers = {each: number for number, each in enumerate(dict.fromkeys(item.clusters))}
        clusters = [numbers[each] for each in item.clusters]
        first, second = [a for a, _ in item.values], [b for _, b in item.values]
        test = paired_permutation_test(first, second, clusters)
        if test is not None:
            difference = mean_estimate([a - b for a, b in item.values], clusters, scale=scale)
            found.append((item, difference, test))
    rows: list[list[Cell]] = [
        [item.first, item.second, difference, test.n, test.p, corrected]
        for (item, difference, test), corrected in zip(found, holm([test.p for *_, test in found]), strict=True)
    ]
    drawn = sum(not test.exact for *_, test in found)
    return Table(
        name,
        f"differences between players: {value}",
        [
            Column("first"),
            Column("second"),
            Column("first less second", MEASURED, decimals),
            Column("groups", MEASURED),
            Column("p", MEASURED, 4),
            Column("p, corrected", MEASURED, 4),
        ],
        rows,
        [
            f"p: two-sided permutation test, in which the values of both players are exchanged {group} by {group}, each a group;"
            " all exchanges were tried"
            + (f", except in {drawn} of {len(rows)} tests, where 10,000 were drawn" if drawn else ""),
            f"corrected: by Holm's method for the {len(rows)} tests of the table",
            *notes,
        ],
    )
