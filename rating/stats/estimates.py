"""Means and rates with confidence intervals and numbers of cases.

``mean_estimate`` is for any numbers, with Student's interval. ``bounded_mean`` is for values between 0 and 1: its interval is
Wilson's for the effective number of independent cases, with Student's quantile for the number of clusters (after Korn and
Graubard, Confidence intervals for proportions with small expected number of positive counts estimated from survey data, 1998).
It stays within 0 and 1 and does not shrink to a point if all cases are equal. ``RunningMean`` takes one value after another.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

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
Labels = NDArray[np.intp]

NOTHING = 1e-9
"""Tolerance for rounding errors."""

_ROUNDING = 1e-12
"""Relative tolerance for rounding errors in the sums of deals, e.g. of 0.1 + 0.2 from 0.3."""


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


def mean_estimate(
    values: Sequence[float],
    clusters: Sequence[int] | Sequence[str] | None = None,
    *,
    scale: tuple[float, float] = UNBOUNDED,
) -> Estimate | None:
    """Returns a mean with Student's interval, clustered.

    The interval is left out without variation, because equal values do not show the variance. For values between 0 and 1,
    ``bounded_mean`` has an interval even then.

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


def bounded_mean(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Estimate | None:
    """Returns the mean of values between 0 and 1.

    Clustering never increases the effective number of cases. If all values are equal, or there is only one cluster, the
    interval is Wilson's for the number of clusters.

    Args:
        values: numbers, 0 to 1.
        clusters: cluster of each value, e.g. a dialogue; by default each value is its own cluster.

    Returns:
        ``None`` without values. The interval is left out for few clusters (``with_interval``).

    Raises:
        ValueError: if a value is not within 0 and 1 or the lengths differ.
    """
    numbers, labels = unit_values("values", values), cluster_labels(clusters, len(values))
    if not len(numbers):
        return None
    value, groups = float(np.clip(numbers.mean(), 0, 1)), int(labels.max()) + 1
    if groups == 1 or np.ptp(numbers) < NOTHING:
        alike = rate_estimate(groups * value, groups)
        return alike and alike._replace(n=len(numbers))
    if groups == len(numbers) and np.isin(numbers, (0, 1)).all():
        return rate_estimate(int(numbers.sum()), groups)
    parts = (numbers - value) / len(numbers)
    variance = max(sum_variance(parts, labels), sum_variance(parts, np.arange(len(parts))))
    quantile = float(stdtrit(groups - 1, 0.975))
    low, high = wilson_interval(value, value * (1 - value) / variance, quantile)
    return with_interval(value, low, high, len(numbers), groups)


def signed_mean(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Estimate | None:
    """Returns the mean of values between -1 and 1, e.g. differences of shares, as ``bounded_mean``."""
    halved = bounded_mean([(value + 1) / 2 for value in values], clusters)
    if halved is None:
        return None
    low, high = (None if end is None else 2 * end - 1 for end in (halved.low, halved.high))
    return halved._replace(value=2 * halved.value - 1, low=low, high=high)


def sum_variance(parts: Floats, labels: Labels) -> float:
    """Returns the variance of a sum of parts with mean 0 that are independent between (two or more) clusters, but not within."""
    sums = np.bincount(labels, parts)
    return float(len(sums) / (len(sums) - 1) * (sums @ sums))


def unit_values(name: str, values: Sequence[float]) -> Floats:
    """Returns values as an array.

    Raises:
        ValueError: if one is not within 0 and 1.
    """
    numbers = np.asarray(values, dtype=float)
    outside = numbers[~((numbers >= 0) & (numbers <= 1))]
    if len(outside):
        raise ValueError(
            f"{name}: expected numbers from 0 to 1, got {outside[0]}; rescale them, leave missing ones out"
        )
    return numbers


def cluster_labels(clusters: Sequence[Hashable] | None, n: int) -> Labels:
    """Returns the cluster index of each of ``n`` cases, from 0, in order of first occurrence.

    Raises:
        ValueError: if the lengths differ.
    """
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise ValueError(f"clusters: expected one for each of {n} cases, got {len(clusters)}")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters], dtype=np.intp)


@dataclass
class _SameSize:
    """The deals with the same number of values.

    Attributes:
        deals: number of deals.
        sums: total of the sums of their values.
        squares: total of the squares of these sums.
    """

    deals: int = 0
    sums: float = 0.0
    squares: float = 0.0

    def count(self, total: float, sign: int) -> None:
        """Adds a deal with this sum of values, or removes it if the sign is -1."""
        self.deals += sign
        self.sums += sign * total
        self.squares += sign * total * total


class RunningMean:
    """A running mean with an interval clustered by deal.

    A deal may grow at any time; an incomplete one has less weight. Sums are of differences from the first value, which limits
    rounding errors for large and similar values. The cost of the interval does not depend on the number of values.

    Attributes:
        n: number of values.
        mean: their mean; 0 without values.
    """

    def __init__(self) -> None:
        self.n, self.mean = 0, 0.0
        self._origin, self._largest = 0.0, 0.0
        self._deals: dict[Hashable, tuple[int, float]] = {}
        self._by_size: dict[int, _SameSize] = {}

    @property
    def deals(self) -> int:
        """Number of deals."""
        return len(self._deals)

    def add(self, value: float, deal: Hashable = None) -> None:
        """Adds a value.

        Args:
            value: a finite number.
            deal: deal of the value, e.g. the seed of its match; ``None`` for a deal of its own.
        """
        self._origin = self._origin if self.n else value
        self.n += 1
        self.mean += (value - self.mean) / self.n
        key = ("alone", self.n) if deal is None else deal
        size, total = self._deals.get(key, (0, 0.0))
        if size:
            self._by_size[size].count(total, -1)
        size, total = size + 1, total + (value - self._origin)
        self._largest = max(self._largest, size * abs(value))
        self._by_size.setdefault(size, _SameSize()).count(total, 1)
        self._deals[key] = size, total

    def half_width(self) -> float:
        """Returns half the width of the 95 % interval, as ``mean_estimate``.

        Returns:
            0 if all deals are equal, infinite for fewer than two.
        """
        if self.deals < 2:
            return math.inf
        found = [(size, group) for size, group in self._by_size.items() if group.deals]
        total = sum(group.sums for _, group in found)
        squares = [_squares(size, group, total, self.n) for size, group in found]
        if sum(squares) <= self.deals * (_ROUNDING * self._largest) ** 2:
            return 0.0
        sizes, counts = np.array([(size, group.deals) for size, group in found]).T
        return half_width_by_size(sizes, counts, np.maximum(squares, 0.0) / self.n**2)


def _squares(size: int, group: _SameSize, total: float, values: int) -> float:
    """Returns the sum of the squared differences of the sums of deals of one size from their expectation.

    Args:
        size: number of values in each deal.
        group: these deals.
        total: sum of all values of all deals.
        values: number of all values.
    """
    expected = size * total / values
    return group.squares - 2 * expected * group.sums + expected * expected * group.deals
