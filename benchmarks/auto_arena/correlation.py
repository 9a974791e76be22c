"""Rank agreement of two lists of scores with missing values.

Auto-Arena (arXiv 2405.20267v1, sections 4.2 and 4.5) reports Spearman's correlation with a human ranking and the share of pairs
in the same order for a leaderboard.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from rating.stats.estimates import FEWEST_CLUSTERS, Z_95, Estimate


class Correlation(NamedTuple):
    """Agreement of two lists of scores.

    Attributes:
        n: number of players with both scores.
        spearman: correlation of the ranks, ties averaged, -1 to 1; ``None`` below two players, or if all scores of a
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

    def spearman_estimate(self) -> Estimate | None:
        """Returns Spearman's correlation with its 95 % interval over players from the same population.

        The interval of Bonett and Wright (Sample size requirements for estimating Pearson, Kendall and Spearman correlations,
        2000): Fisher's transformation with variance (1 + rho^2 / 2) / (n - 3). A perfect correlation gets the lower limit of the
        next lower possible value. In simulations it holds for five or more players and true correlations up to 0.95, above
        which the upper limit is too low; it is left out below five.
        """
        if self.spearman is None:
            return None
        if self.n < FEWEST_CLUSTERS:
            return Estimate(self.spearman, None, None, self.n, self.n)
        next_to_perfect = 1 - 12 / (self.n * (self.n**2 - 1))
        near = max(-next_to_perfect, min(next_to_perfect, self.spearman))
        half = Z_95 * math.sqrt((1 + near**2 / 2) / (self.n - 3))
        low, high = math.tanh(math.atanh(near) - half), math.tanh(math.atanh(near) + half)
        if abs(self.spearman) > next_to_perfect + 1e-9:
            low, high = (low, 1.0) if self.spearman > 0 else (-1.0, high)
        return Estimate(self.spearman, low, high, self.n, self.n)

    @property
    def concordance(self) -> float | None:
        """The share of pairs in the same order, 0 to 1; ``None`` without a pair."""
        return self.alike / self.pairs if self.pairs else None


def correlate(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> Correlation:
    """Returns the agreement of two lists of scores over the players with both (pairwise deletion).

    Args:
        first: scores by player; ``None`` for a missing one.
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
        spearman=_pearson(rankdata(x).tolist(), rankdata(y).tolist()),
        pearson=_pearson(x, y),
        kendall=sum(one * other for one, other in signs) / told if told else None,
        alike=sum(1 - abs(one - other) / 2 for one, other in signs),
        pairs=len(signs),
    )


def _pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns Pearson's correlation, -1 to 1; ``None`` below two cases, or if all values of a list are equal."""
    if not first or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    x, y = (np.asarray(values, dtype=float) - np.mean(values) for values in (first, second))
    product = float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))
    return max(-1.0, min(1.0, product))


def _sign(difference: float) -> int:
    return int(difference > 0) - int(difference < 0)
