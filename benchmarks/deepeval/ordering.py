"""How far two numbers order the same cases alike: a judge's scores and what is known, or the scores of two judges.

Cases are compared within groups, e.g. the texts that were written on one task, so that neither easy tasks nor long ones count.
Groups are the independent cases of all intervals.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from rating.statistics.bounded import bounded_mean
from rating.statistics.estimates import FEWEST_GROUPS, RESAMPLES, Estimate

Floats = NDArray[np.float64]


def concordance(first: Sequence[float], second: Sequence[float], groups: Sequence[int]) -> Estimate | None:
    """Returns the share of pairs of cases that both numbers order alike, clustered by group.

    Pairs of one group count that the second number tells apart; a pair that the first one does not tell apart counts one half.

    Args:
        first: a number for each case, e.g. a judge's score.
        second: another one, e.g. what is known of the case.
        groups: for each case the group it belongs to.

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

    What is ranked, ties averaged, are the differences from the group's mean. Ranks are made once and not for every resample.

    Args:
        first: a number for each case.
        second: another one.
        groups: for each case the group it belongs to.
        given: a third one that is held equal: the partial correlation of the ranks.

    Returns:
        The correlation, -1 to 1; ``None`` where it is undefined: if a number is the same for all cases of each group, or follows
        from ``given``. The interval is left out if groups are too few for one, or resamples in which it is undefined too many.

    Raises:
        ValueError: if the lengths differ.
    """
    x, y, labels = _checked(first, second, groups)
    columns = [x, y] if given is None else [x, y, _checked(given, second, groups)[0]]
    n, count = len(x), int(labels.max(initial=-1)) + 1
    if n < 2:
        return None
    ranks = np.stack([_ranks(column, labels) for column in columns], axis=1)
    # All that a correlation is made of are sums, which are taken by group once.
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
    """Returns both numbers of each case and the number of its group."""
    if not len(first) == len(second) == len(groups):
        raise ValueError(
            f"expected two numbers and a group for each case, got {len(first)}, {len(second)} and {len(groups)}"
        )
    labels = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.intp)
    return np.asarray(first, dtype=float), np.asarray(second, dtype=float), labels


def _ranks(values: Floats, labels: NDArray[np.intp]) -> Floats:
    """Returns the ranks of the differences from the group's mean, less the mean rank."""
    means = np.bincount(labels, values) / np.bincount(labels)
    # Equal values differ from their mean by the error of rounding, which is no difference.
    ranks: Floats = rankdata(np.round(values - means[labels], 9))
    return ranks - (len(values) + 1) / 2


def _correlations(sums: Floats, size: int) -> Floats:
    """Returns the correlation of the first two of ``size`` columns, the others held equal, for each row of sums.

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
