"""Medians with their intervals."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rating.statistics.estimates import RESAMPLES, Estimate


def median_estimate(
    values: Sequence[float],
    clusters: Sequence[int],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate | None:
    """Returns a median with a percentile bootstrap interval, resampled by cluster.

    The interval is left out below six clusters at 95 %: not even the smallest and the largest of n independent values enclose
    the median more often than with probability 1 - 2 / 2^n.

    The result does not depend on the order of the values.

    Args:
        values: finite numbers.
        clusters: for each value the group it belongs to, e.g. the number of its match.
        confidence: of the interval.
        resamples: number of resamples.
        seed: of the resampling.

    Returns:
        ``None`` if there are no values.

    Raises:
        ValueError: if a value is not finite or the lengths differ.
    """
    if len(values) != len(clusters):
        raise ValueError(f"clusters: expected one for each of {len(values)} values, got {len(clusters)}")
    if not values:
        return None
    if not all(map(math.isfinite, values)):
        raise ValueError("values: expected finite numbers; leave missing ones out")
    _, groups = np.unique(np.asarray(clusters), return_inverse=True)
    numbers = np.asarray(values, dtype=float)
    order = np.lexsort((groups, numbers))
    numbers, groups = numbers[order], groups[order]
    count = int(groups.max()) + 1
    value = float(np.median(numbers))
    if 2.0 ** (1 - count) > 1 - confidence:
        return Estimate(value, None, None, len(numbers), count)
    rng = np.random.default_rng(seed)
    medians = [_median(numbers, rng.multinomial(count, [1 / count] * count)[groups]) for _ in range(resamples)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(medians, (tail, 1 - tail))
    return Estimate(value, float(low), float(high), len(numbers), count)


def _median(numbers: NDArray[np.float64], times: NDArray[np.int64]) -> float:
    """Returns the median of sorted numbers, each taken as often as ``times`` says."""
    up_to = np.cumsum(times)
    middle = (up_to[-1] - 1) // 2, up_to[-1] // 2
    return float(numbers[np.searchsorted(up_to, middle, side="right")].mean())
