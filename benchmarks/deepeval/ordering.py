"""Rank agreement of two numbers on the same cases: a judge's scores and measured quality, or the scores of two judges.

Cases are compared within groups, e.g. the texts on one task; differences in difficulty or length between tasks have no effect.
Groups are the independent cases of all intervals.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from rating.stats.estimates import FEWEST_GROUPS, RESAMPLES, Estimate, bounded_mean

Floats = NDArray[np.float64]


def concordance(first: Sequence[float], second: Sequence[float], groups: Sequence[int]) -> Estimate | None:
    """Returns the share of pairs of cases ordered alike by both numbers, clustered by group.

    Pairs within a group count unless the second number is tied; a tie of the first number counts one half.

    Args:
        first: a number for each case, e.g. a judge's score.
        second: another one, e.g. the measured quality.
        groups: group of each case.

    Returns:
        The share, 0 to 1, with the number of pairs as ``n``; ``None`` if there are no pairs.

    Raises:
        ValueError: if the lengths differ.
    """
    x, y, labels = _checked(first, second, groups)
    values: list[float] = []
    clusters: list[int] = []
    for label in range(labels.max(initial=-1) + 1):
        inside = np.flatnonzero(labels == label)
        one, other = np.triu_indices(len(inside), 1)
        told = np.sign(y[inside[one]] - y[inside[other]])
        said = np.sign(x[inside[one]] - x[inside[other]])
        alike = (1 + said * told)[told != 0] / 2
        values += alike.tolist()
        clusters += [label] * len(alike)
    return bounded_mean(values, clusters)


def rank_correlation(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[int],
    *,
    given: Sequence[float] | None = None,
) -> Estimate | None:
    """Returns Spearman's rank correlation of two numbers within groups, with a bootstrap interval, resampled by group.

    Ranks are of the differences from the group's mean, ties averaged. They are computed once, not for every resample.

    Args:
        first: a number for each case.
        second: another one.
        groups: group of each case.
        given: a third number to control for: the partial correlation of the ranks.

    Returns:
        The correlation, -1 to 1; ``None`` if it is undefined: a number is constant within each group, or determined by ``given``.
        The interval is left out if there are too few groups, or too many resamples with an undefined correlation.

    Raises:
        ValueError: if the lengths differ.
    """
    x, y, labels = _checked(first, second, groups)
    columns = [x, y] if given is None else [x, y, _checked(given, second, groups)[0]]
    n, count = len(x), int(labels.max(initial=-1)) + 1
    if n < 2:
        return None
    ranks = np.stack([_ranks(column, labels) for column in columns], axis=1)
    # Correlations need sums only, computed once per group.
    products = np.concatenate([ranks, (ranks[:, :, None] * ranks[:, None, :]).reshape(n, -1), np.ones((n, 1))], axis=1)
    sums = np.zeros((count, products.shape[1]))
    np.add.at(sums, labels, products)
    value = float(_correlations(sums.sum(axis=0)[None], len(columns))[0])
    if np.isnan(value):
        return None
    if count < FEWEST_GROUPS:
        return Estimate(value, None, None, n, count)
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    found = _correlations(drawn @ sums, len(columns))
    found = found[~np.isnan(found)]
    if len(found) < 0.9 * RESAMPLES or found.min() == found.max():
        return Estimate(value, None, None, n, count)
    low, high = np.quantile(found, (0.025, 0.975))
    return Estimate(value, float(low), float(high), n, count)


def _checked(
    first: Sequence[float], second: Sequence[float], groups: Sequence[int]
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Returns both numbers of each case and the index of its group."""
    if not len(first) == len(second) == len(groups):
        raise ValueError(
            f"expected two numbers and a group for each case, got {len(first)}, {len(second)} and {len(groups)}"
        )
    labels = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.intp)
    return np.asarray(first, dtype=float), np.asarray(second, dtype=float), labels


def _ranks(values: Floats, labels: NDArray[np.intp]) -> Floats:
    """Returns the ranks of the differences from the group's mean, minus the mean rank."""
    means = np.bincount(labels, values) / np.bincount(labels)
    # Rounding errors make equal values differ from their mean.
    ranks: Floats = rankdata(np.round(values - means[labels], 9))
    return ranks - (len(values) + 1) / 2


def _correlations(sums: Floats, size: int) -> Floats:
    """Returns the correlation of the first two of ``size`` columns, controlling for the others, for each row of sums.

    A row holds the sums of the columns, of all their products, and the number of cases.
    """
    n = sums[:, -1:]
    means = sums[:, :size] / n
    covariance = (sums[:, size:-1] / n).reshape(-1, size, size) - means[:, :, None] * means[:, None, :]
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(np.maximum(variances, 0))
        table = covariance / (scale[:, :, None] * scale[:, None, :])
        found = table[:, 0, 1]
        if size == 3:
            left = np.sqrt((1 - table[:, 0, 2] ** 2) * (1 - table[:, 1, 2] ** 2))
            found = np.where(left > 1e-6, (found - table[:, 0, 2] * table[:, 1, 2]) / left, np.nan)
        found = np.where(np.isfinite(found), found, np.nan)
    return np.clip(found, -1, 1)
