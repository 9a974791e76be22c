"""Means of values between 0 and 1 (shares, exactness), clustered, with intervals for few clusters.

The interval is Wilson's for the effective number of independent cases, with Student's quantile for the number of clusters
(after Korn and Graubard, Confidence intervals for proportions with small expected number of positive counts estimated from
survey data, 1998). It stays within 0 and 1 and does not shrink to a point if all cases are equal.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rating.stats.estimates import Estimate, rate_estimate, wilson_interval, with_interval

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

NOTHING = 1e-9
"""Tolerance for rounding errors."""


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
