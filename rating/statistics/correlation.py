"""How far two lists of scores order the same players alike, where some scores are missing.

Spearman's correlation with a human ranking and the share of pairs in the same order are what Auto-Arena (arXiv 2405.20267,
sections 4.2 and 4.5) says of a leaderboard.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np


class Correlation(NamedTuple):
    """What two lists of scores have in common.

    Attributes:
        n: players who have both scores.
        spearman: correlation of the ranks, ties averaged, -1 to 1; ``None`` below two players, or where all scores of a
            list are equal.
        pearson: correlation of the scores themselves, likewise.
        kendall: Kendall's tau-b, likewise.
        alike: pairs of players in the same order; a pair that is tied in one list counts one half, in both one.
        pairs: all pairs.
    """

    n: int
    spearman: float | None
    pearson: float | None
    kendall: float | None
    alike: float
    pairs: int

    @property
    def concordance(self) -> float | None:
        """The share of pairs in the same order, 0 to 1; ``None`` without a pair."""
        return self.alike / self.pairs if self.pairs else None


def correlate(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> Correlation:
    """Returns what two lists of scores have in common over the players who have both (pairwise deletion).

    Args:
        first: scores by player; ``None`` where one is missing.
        second: likewise, in any unit.

    Raises:
        ValueError: if a score is not finite.
    """
    both = [
        (one, other) for player, one in first.items() if one is not None and (other := second.get(player)) is not None
    ]
    if not all(math.isfinite(score) for pair in both for score in pair):
        raise ValueError("scores: expected finite numbers; leave missing ones out")
    x, y = [one for one, _ in both], [other for _, other in both]
    signs = [(_sign(a[0] - b[0]), _sign(a[1] - b[1])) for a, b in itertools.combinations(both, 2)]
    told = math.sqrt(sum(abs(one) for one, _ in signs) * sum(abs(other) for _, other in signs))
    return Correlation(
        n=len(both),
        spearman=pearson(average_ranks(x), average_ranks(y)),
        pearson=pearson(x, y),
        kendall=sum(one * other for one, other in signs) / told if told else None,
        alike=sum(1 - abs(one - other) / 2 for one, other in signs),
        pairs=len(signs),
    )


def average_ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value, the lowest first and from 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    before = 0
    for _, group in itertools.groupby(order, key=values.__getitem__):
        members = list(group)
        for index in members:
            ranks[index] = before + (len(members) + 1) / 2
        before += len(members)
    return ranks


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns Pearson's correlation, -1 to 1; ``None`` below two cases, or if all values of a list are equal.

    Raises:
        ValueError: if the lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"expected two values for each case, got {len(first)} and {len(second)}")
    if not first or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    x, y = (np.asarray(values, dtype=float) - np.mean(values) for values in (first, second))
    product = float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))
    return max(-1.0, min(1.0, product))


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)
