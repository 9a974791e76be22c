"""Means, rates and counts with confidence intervals and numbers of cases."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rating.stats.results import Duel

RESAMPLES = 2000
Z_95 = 1.959963984540054
"""Standard errors on either side of an estimate in a normal 95 % interval."""

FEWEST_CLUSTERS = 5
"""Minimum number of independent cases for an interval; with fewer it would span most of its scale."""

FEWEST_GROUPS = 6
"""Minimum number of groups for a resampled interval; with fewer it is too narrow."""

UNBOUNDED = (-math.inf, math.inf)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Estimate(NamedTuple):
    """A mean or rate with a confidence interval.

    Attributes:
        value: the estimate.
        low: lower end of the interval; ``None`` if there are too few cases for one.
        high: upper end.
        n: number of cases.
        clusters: number of independent groups of cases.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    clusters: int


class Rating(NamedTuple):
    """A rating in Elo with its 95 % interval.

    Attributes:
        value: the rating.
        low: lower end of the interval; ``None`` if it is unbounded.
        high: upper end; ``None`` if it is unbounded.
        is_linked: whether results link the policy to the others; if not, the prior sets its distance.
    """

    value: float
    low: float | None
    high: float | None
    is_linked: bool


def with_interval(
    value: float,
    low: float,
    high: float,
    n: int,
    clusters: int,
    scale: tuple[float, float] = UNBOUNDED,
) -> Estimate:
    """Makes an estimate, without an interval for fewer than ``FEWEST_CLUSTERS`` clusters.

    Args:
        value: the estimate, on its scale.
        low: lower end of the interval.
        high: upper end.
        n: number of cases.
        clusters: number of independent groups of cases.
        scale: smallest and largest possible value; the interval is clipped there.
    """
    if clusters < FEWEST_CLUSTERS:
        return Estimate(value, None, None, n, clusters)
    return Estimate(value, max(low, min(value, scale[0])), min(high, max(value, scale[1])), n, clusters)


class WinDrawLoss(NamedTuple):
    """Wins, draws and losses of one policy."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def n(self) -> int:
        """Number of matches."""
        return self.wins + self.draws + self.losses

    def add(self, score: float) -> "WinDrawLoss":
        """Returns the tally after one more match with score 1, 0.5 or 0."""
        return WinDrawLoss(self.wins + (score == 1), self.draws + (score == 0.5), self.losses + (score == 0))


def mean_estimate(
    values: Sequence[float],
    clusters: Sequence[int] | Sequence[str] | None = None,
    *,
    scale: tuple[float, float] = UNBOUNDED,
) -> Estimate | None:
    """Returns a mean with Student's interval, clustered.

    The interval is left out without variation, because equal values do not show the variance. For values between 0 and 1,
    ``rating.stats.bounded`` has an interval even then.

    The result does not depend on the order of the values.

    Args:
        values: finite numbers.
        clusters: cluster of each value, e.g. the seed of its match; by default each value is its own cluster.
        scale: smallest and largest possible value.

    Returns:
        ``None`` without values. The interval is left out for few clusters (``with_interval``), and if all are equal.

    Raises:
        ValueError: if a value is not finite or the lengths differ.
    """
    if not len(values):
        return None
    numbers = np.asarray(values, dtype=float)
    if not np.all(np.isfinite(numbers)):
        raise ValueError("values: expected finite numbers; leave missing ones out")
    if clusters is None:
        numbers, groups = np.sort(numbers), np.arange(len(numbers))
    else:
        if len(clusters) != len(numbers):
            raise ValueError(f"clusters: expected one for each of {len(numbers)} values, got {len(clusters)}")
        _, groups = np.unique(np.asarray(clusters), return_inverse=True)
        order = np.lexsort((numbers, groups))
        numbers, groups = numbers[order], groups[order]
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    sums, sizes = np.add.reduceat(numbers, starts), np.diff(np.r_[starts, len(numbers)])
    value = math.fsum(numbers) / len(numbers)
    half = mean_half_width(sums, sizes)
    if half == 0 or math.isinf(half):
        return Estimate(value, None, None, len(numbers), len(starts))
    return with_interval(value, value - half, value + half, len(numbers), len(starts), scale)


def mean_half_width(sums: Floats, sizes: Integers) -> float:
    """Returns half the width of Student's interval of a clustered mean.

    The mean is the ratio of two sums over clusters, linearised. The residual of a cluster is corrected for its leverage, and
    the degrees of freedom are Satterthwaite's for independent values; for clusters of equal size this is the usual interval
    with C - 1 degrees of freedom. Source: Bell and McCaffrey, Bias reduction in standard errors for linear regression with
    multi-stage samples (2002).

    Args:
        sums: sum of the values of each cluster, shape (C,).
        sizes: number of values in each cluster, shape (C,).

    Returns:
        0 if the means of all clusters are equal up to rounding; infinite for fewer than two clusters.
    """
    if len(sums) < 2:
        return math.inf
    residuals = (sums - sizes * (sums.sum() / sizes.sum())) / sizes.sum()
    if np.abs(residuals).max() <= 1e-12 * np.abs(sums).max() / sizes.sum():
        return 0.0
    return half_width_by_size(sizes, np.ones_like(sizes), residuals**2)


def half_width_by_size(sizes: Integers, counts: Integers, squares: Floats) -> float:
    """Returns ``mean_half_width`` for clusters grouped by size.

    Args:
        sizes: number of values in a cluster, shape (S,).
        counts: number of clusters of each size, shape (S,); two or more in total.
        squares: for each size the sum of (residual / total number of values)^2 over its clusters, shape (S,).
    """
    share = sizes / (sizes @ counts)
    leverage = share**2 / (1 - share)
    freedom = 1 / (counts @ share**2 + (counts @ leverage) ** 2 - counts @ leverage**2)
    error = math.sqrt(np.sum(squares / (1 - share)))
    return float(stdtrit(freedom, 0.975)) * error


def rate_estimate(hits: float, n: int) -> Estimate | None:
    """Returns a rate with Wilson's score interval (Wilson 1927), which is valid for rates of 0 and 1 too.

    Args:
        hits: number of successes, 0 to ``n``; a draw may count as half a success.
        n: number of independent cases.

    Returns:
        ``None`` if ``n`` is 0. The interval is left out for few cases (``with_interval``).

    Raises:
        ValueError: if ``hits`` is not within 0 and ``n``.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"hits: expected 0 to {n}, got {hits}")
    if n == 0:
        return None
    rate = hits / n
    low, high = wilson_interval(rate, n, NormalDist().inv_cdf(0.975))
    return with_interval(rate, low, high, n, n)


def wilson_interval(rate: float, n: float, quantile: float) -> tuple[float, float]:
    """Returns the ends of Wilson's score interval.

    Args:
        rate: 0 to 1.
        n: number of independent cases, or the effective number; above 0.
        quantile: standard errors on either side, e.g. ``Z_95``.
    """
    square = quantile * quantile / n
    centre = (rate + square / 2) / (1 + square)
    half = quantile * math.sqrt(rate * (1 - rate) / n + square / (4 * n)) / (1 + square)
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def tallies(results: Iterable[Duel]) -> dict[str, tuple[WinDrawLoss, WinDrawLoss]]:
    """Returns the tallies of each policy on the first and on the second seat, by name."""
    table: dict[str, tuple[WinDrawLoss, WinDrawLoss]] = defaultdict(lambda: (WinDrawLoss(), WinDrawLoss()))
    for duel in results:
        first, second = table[duel.first]
        table[duel.first] = first.add(duel.score), second
        first, second = table[duel.second]
        table[duel.second] = first, second.add(1 - duel.score)
    return dict(sorted(table.items()))


def pair_table(results: Iterable[Duel], *, by_seat: bool = False) -> dict[str, dict[str, WinDrawLoss | None]]:
    """Returns the tally of each policy against each other policy, by names.

    Args:
        results: results of one environment.
        by_seat: whether to count only the matches with the row policy on the first seat.

    Returns:
        Row, then column; ``None`` if there was no such match.
    """
    results = list(results)
    names = sorted({name for duel in results for name in (duel.first, duel.second)})
    table: dict[str, dict[str, WinDrawLoss | None]] = {row: dict.fromkeys(names) for row in names}
    for duel in results:
        table[duel.first][duel.second] = (table[duel.first][duel.second] or WinDrawLoss()).add(duel.score)
        if not by_seat:
            table[duel.second][duel.first] = (table[duel.second][duel.first] or WinDrawLoss()).add(1 - duel.score)
    return table


def normalise(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Returns values in per cent of the best one, as LLMArena does (arXiv 2402.16499, Table 1).

    Missing values stay missing, negative ones negative, and the best one is exactly 100.

    Raises:
        ValueError: if no value is above 0, or the best one is infinite.
    """
    known = [value for value in values.values() if value is not None]
    best = max(known, default=None)
    if best is None or not 0 < best < math.inf:
        raise ValueError(f"expected a best value above 0 to normalise by, got {best}")
    return {name: None if value is None else 100 * (value / best) for name, value in values.items()}
