"""Agreement of any number of raters, with missing labels: pooled agreement, Fleiss' kappa, Krippendorff's alpha.

Each is computed from the counts of labels per item, so raters are interchangeable and may differ between items. Items with
fewer than two labels are left out. Intervals are from the bootstrap by item.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rating.stats.estimates import FEWEST_GROUPS, RESAMPLES, Estimate, rate_estimate

Label = TypeVar("Label", bound=Hashable)
Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""From the count of each kind of item, shape (samples, kinds): a value for each sample, nan if it is undefined."""

LEVELS = ("nominal", "ordinal", "interval")
"""Levels of measurement of labels: names, ordered places, or numbers."""

_MOST_WORK = 400_000_000
"""Maximum number of multiplications for a resampled interval."""

_AT_ONCE = 5_000_000
"""Numbers per batch."""


def label_counts(cases: Iterable[Iterable[Label]], labels: Sequence[Label]) -> tuple[Floats, Floats]:
    """Returns the label counts of each kind of item with two or more labels, and the number of items of each kind.

    Args:
        cases: labels of each item.
        labels: all labels, in their order.

    Returns:
        Arrays of shape (kinds, labels) and (kinds,), in an order independent of the input order.
    """
    places = {label: place for place, label in enumerate(labels)}
    kinds: Counter[tuple[int, ...]] = Counter()
    for case in cases:
        row = [0] * len(labels)
        for label in case:
            row[places[label]] += 1
        if sum(row) >= 2:
            kinds[tuple(row)] += 1
    ordered = sorted(kinds)
    rows = np.array(ordered, dtype=float).reshape(len(ordered), len(labels))
    return rows, np.array([kinds[row] for row in ordered], dtype=float)


def pooled_agreement(rows: Floats, times: Floats) -> Estimate | None:
    """Returns the share of equal pairs of labels of one item, over all pairs of all items.

    Args:
        rows: as returned by ``label_counts``.
        times: as returned by ``label_counts``.

    Returns:
        ``None`` without items. If resamples do not vary, or items are few, the interval is Wilson's for the number of items.
    """
    given = rows.sum(axis=1)
    equal, pairs = (rows**2).sum(axis=1) - given, given * (given - 1)
    return resampled_share(lambda weights: (weights @ equal) / (weights @ pairs), times)


def fleiss_kappa(rows: Floats, times: Floats) -> Estimate | None:
    """Returns Fleiss' kappa; the number of raters may differ between items.

    Source: Fleiss, Measuring nominal scale agreement among many raters (1971).

    Args:
        rows: as returned by ``label_counts``.
        times: as returned by ``label_counts``.

    Returns:
        ``None`` if it is undefined: without items, or with only one distinct label.
    """
    given = rows.sum(axis=1)
    alike = ((rows**2).sum(axis=1) - given) / (given * (given - 1))

    def kappa(weights: Floats) -> Floats:
        observed = (weights @ alike) / weights.sum(axis=1)
        shares = (weights @ rows) / (weights @ given)[:, None]
        by_chance = (shares**2).sum(axis=1)
        undefined = shares.max(axis=1) == 1
        return np.where(undefined, np.nan, (observed - by_chance) / np.where(undefined, 1, 1 - by_chance))

    return resampled(kappa, times, work=rows.size)


def krippendorff_alpha(
    rows: Floats, times: Floats, *, level: str = "nominal", values: Sequence[float] | None = None
) -> Estimate | None:
    """Returns Krippendorff's alpha.

    Source: Krippendorff, Computing Krippendorff's alpha-reliability (2011).

    Args:
        rows: as returned by ``label_counts``; the columns in label order, for the level ``ordinal``.
        times: as returned by ``label_counts``.
        level: one of ``LEVELS``.
        values: number of each label, for the level ``interval``; by default its position.

    Returns:
        ``None`` if it is undefined: without items, or with only one distinct label.
    """
    numbers = np.arange(rows.shape[1], dtype=float) if values is None else np.asarray(values, dtype=float)
    size = rows.shape[1]
    pairs = rows[:, :, None] * rows[:, None, :] - rows[:, :, None] * np.eye(size)
    pairs = (pairs / (rows.sum(axis=1) - 1)[:, None, None]).reshape(len(rows), size * size)

    def alpha(weights: Floats) -> Floats:
        seen = (weights @ pairs).reshape(len(weights), size, size)
        totals = weights @ rows
        apart = _apart(level, numbers, totals)
        n = totals.sum(axis=1)
        observed = (seen * apart).sum(axis=(1, 2)) / n
        by_chance = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2)) / (n * (n - 1))
        return np.where(by_chance > 0, 1 - observed / np.where(by_chance > 0, by_chance, 1), np.nan)

    return resampled(alpha, times, work=pairs.size)


def _apart(level: str, numbers: Floats, totals: Floats) -> Floats:
    """Returns the squared difference of each pair of labels, for each sample."""
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(len(numbers)), (len(totals), len(numbers), len(numbers)))
    # Ordinal distance: the number of labels between two, with half of their own.
    places = np.cumsum(totals, axis=1) - totals / 2 if level == "ordinal" else np.broadcast_to(numbers, totals.shape)
    squares: Floats = (places[:, :, None] - places[:, None, :]) ** 2
    return squares


def resampled(statistic: Statistic, times: Floats, *, work: int = 0) -> Estimate | None:
    """Returns a statistic of many items with a percentile bootstrap interval.

    Items of one kind are drawn together, so the cost depends on the number of kinds, not of items.

    Args:
        statistic: the statistic.
        times: number of items of each kind.
        work: approximate number of multiplications per sample.

    Returns:
        ``None`` if the statistic is undefined. The interval is left out if items are few, resamples do not vary, or too many of
        them leave the statistic undefined.
    """
    n = round(times.sum())
    value = float(statistic(times[None])[0]) if n else math.nan
    if math.isnan(value):
        return None
    found = _resamples(statistic, times, n, max(work, len(times)))
    known = found[~np.isnan(found)]
    if n < FEWEST_GROUPS or not len(found) or len(known) < 0.9 * len(found) or known.min() == known.max():
        return Estimate(value, None, None, n, n)
    low, high = np.quantile(known, (0.025, 0.975))
    return Estimate(value, float(low), float(high), n, n)


def resampled_share(statistic: Statistic, times: Floats, *, work: int = 0) -> Estimate | None:
    """Returns a share as ``resampled``; without an interval, Wilson's for the number of items is used."""
    estimate = resampled(statistic, times, work=work)
    if estimate is None or estimate.low is not None:
        return estimate
    wide = rate_estimate(min(estimate.value, 1.0) * estimate.n, estimate.n)
    return estimate._replace(low=wide and wide.low, high=wide and wide.high)


def _resamples(statistic: Statistic, times: Floats, n: int, work: int) -> Floats:
    """Returns the statistic of the resamples: fewer of them if each is costly, none if even a few cost too much."""
    count = min(RESAMPLES, _MOST_WORK // work)
    if count < RESAMPLES // 10:
        return np.array([])
    rng = np.random.default_rng(0)
    at_once = max(1, _AT_ONCE // work)
    found = []
    for begin in range(0, count, at_once):
        drawn = rng.multinomial(n, times / times.sum(), size=min(at_once, count - begin))
        found.append(statistic(drawn.astype(float)))
    return np.concatenate(found)
