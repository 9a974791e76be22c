"""Proportions and their differences, with intervals that hold for few cases and for proportions of 0 and 1."""

import math
from collections.abc import Hashable, Iterable, Sequence

from rating.stats.estimates import Z_95, Estimate, bounded_mean, rate_estimate, wilson_interval, with_interval


def rate_of_counts(counts: Iterable[tuple[int, int, Hashable]]) -> Estimate | None:
    """Returns the share of hits in all cases, clustered.

    Args:
        counts: number of hits, number of cases, and their cluster, e.g. the match.
    """
    cases = [(case < hits, cluster) for hits, total, cluster in counts for case in range(total)]
    return bounded_mean([hit for hit, _ in cases], [cluster for _, cluster in cases])


def paired_change(before: Sequence[bool], after: Sequence[bool]) -> Estimate | None:
    """Returns the change of a proportion over pairs of cases, with Newcombe's interval.

    Source: Newcombe, Improved confidence intervals for the difference between binomial proportions based on paired data (1998),
    method 10: Wilson's intervals of both shares, combined with regard to their correlation.

    Args:
        before: whether the first case of each pair is a hit.
        after: whether the second one is.

    Returns:
        The share after minus the share before, -1 to 1; ``None`` if there are no pairs.

    Raises:
        ValueError: if the lengths differ.
    """
    n = len(before)
    if n != len(after):
        raise ValueError(f"expected as many cases after as before, got {len(after)} and {n}")
    first, second = rate_estimate(sum(before), n), rate_estimate(sum(after), n)
    if first is None or second is None:
        return None
    both = sum(old and new for old, new in zip(before, after, strict=True))
    neither = sum(not old and not new for old, new in zip(before, after, strict=True))
    ended, begun = sum(before) - both, sum(after) - both
    margins = (both + ended) * (begun + neither) * (both + begun) * (ended + neither)
    product: float = both * neither - ended * begun
    if product > 0:
        product = max(0.0, product - n / 2)
    correlation = product / math.sqrt(margins) if margins else 0.0
    down, up = _margins(first.value, n), _margins(second.value, n)
    change = second.value - first.value
    low = math.sqrt(max(0.0, up[0] ** 2 - 2 * correlation * up[0] * down[1] + down[1] ** 2))
    high = math.sqrt(max(0.0, up[1] ** 2 - 2 * correlation * up[1] * down[0] + down[0] ** 2))
    return with_interval(change, change - low, change + high, n, n, (-1, 1))


def _margins(rate: float, n: int) -> tuple[float, float]:
    """Returns the distances from a rate to the lower and upper limit of its Wilson interval."""
    low, high = wilson_interval(rate, n, Z_95)
    return rate - low, high - rate


def unpaired_change(before: Estimate, after: Estimate) -> Estimate:
    """Returns the difference of a proportion between two independent groups of cases.

    Source: Newcombe, Interval estimation for the difference between independent proportions (1998), method 10: Wilson's intervals
    of both shares, combined. Other intervals of the shares can be used too.

    Args:
        before: the share in the first group.
        after: the share in the second one.

    Returns:
        The share after minus the share before; without an interval if either share has none.
    """
    n, clusters = before.n + after.n, before.clusters + after.clusters
    difference = after.value - before.value
    if before.low is None or before.high is None or after.low is None or after.high is None:
        return Estimate(difference, None, None, n, clusters)
    low = math.hypot(after.value - after.low, before.high - before.value)
    high = math.hypot(after.high - after.value, before.value - before.low)
    return with_interval(difference, difference - low, difference + high, n, clusters, (-1, 1))
