"""A judge's scores against the known truth: discrimination, false praise, and drift.

The truth of an answer is a number from 0 (wrong) to 1 (right). Scores can be in any unit unless a function says otherwise.
Dependent answers, e.g. the answers of a dialogue, form a cluster; intervals treat clusters as independent.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

from rating.stats.estimates import (
    FEWEST_GROUPS,
    NOTHING,
    Estimate,
    Floats,
    Labels,
    bounded_mean,
    cluster_labels,
    signed_mean,
    sum_variance,
    unit_values,
    wilson_interval,
    with_interval,
)

_HIGHEST = 0.999
"""Maximum absolute correlation on Fisher's scale, which is unbounded."""


class Praise(NamedTuple):
    """Rates of a judge's praise of wrong answers, and of missing praise of right ones.

    Attributes:
        false: share of the wrong answers that are praised; ``None`` if there are none.
        missed: share of the right answers that are not praised; ``None`` if there are none.
    """

    false: Estimate | None
    missed: Estimate | None


def praise(
    scores: Sequence[float],
    truth: Sequence[float],
    threshold: float,
    clusters: Sequence[Hashable] | None = None,
) -> Praise:
    """Returns how often wrong answers are praised and right ones are not.

    Intervals are from ``bounded_mean``: Wilson's for independent answers, which has a positive width even without false praise.

    Args:
        scores: of each answer.
        truth: of each answer.
        threshold: minimum score of a praised answer.
        clusters: group of each answer; by default each is its own group.

    Raises:
        ValueError: if the lengths differ, a score is not finite or a truth not within 0 and 1.
    """
    given, exact, labels = _checked(scores, truth, clusters)
    praised, is_right = given >= threshold, exact == 1

    def share(hits: np.ndarray, where: np.ndarray) -> Estimate | None:
        return bounded_mean(hits[where].astype(float).tolist(), labels[where].tolist())

    return Praise(share(praised, ~is_right), share(~praised, is_right))


def rank_agreement(
    scores: Sequence[float], truth: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Estimate | None:
    """Returns Spearman's rank correlation of scores and truth over all answers, ties averaged.

    For a binary truth it cannot reach 1 if scores are finer; ``separation`` can. The interval is from the jackknife by cluster
    on Fisher's scale, with Student's quantile, which holds for fewer clusters than the bootstrap.

    Args:
        scores: of each answer.
        truth: of each answer.
        clusters: group of each answer; by default each is its own group.

    Returns:
        ``None`` if all scores or all truths are equal. The interval is left out if there are fewer than ``FEWEST_GROUPS``
        clusters, the correlation is undefined without one of them, or the jackknife has no variation, which is no certainty.

    Raises:
        ValueError: as ``praise``.
    """
    given, exact, labels = _checked(scores, truth, clusters)
    if not len(given) or not np.ptp(given) or not np.ptp(exact):
        return None
    sums = _sums_by_cluster(labels, [rankdata(values) - (len(given) + 1) / 2 for values in (given, exact)])
    every = sums.sum(axis=1)
    value = float(_correlations(every[:, None])[0])
    others = _correlations(every[:, None] - sums)
    on_scale = np.arctanh(np.clip(np.append(others, value), -_HIGHEST, _HIGHEST))
    half = _jackknife_half(on_scale[:-1])
    if half is None:
        return Estimate(value, None, None, len(given), sums.shape[1])
    low, high = np.tanh([on_scale[-1] - half, on_scale[-1] + half]).tolist()
    return Estimate(value, min(low, value), max(high, value), len(given), sums.shape[1])


def separation(
    scores: Sequence[float],
    truth: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
) -> Estimate | None:
    """Returns how often a right answer has a higher score than a wrong one (the area under the ROC curve, AUC).

    Equal scores count one half: 0.5 is a judge without discrimination, e.g. with constant scores. The interval is Wilson's
    for the effective number of cases, from the variance between clusters; this number is at most the one in Newcombe's
    interval of an area of 1, since perfect separation of a few answers does not prove perfect separation of all.

    Sources: DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver operating characteristic
    curves (1988); Obuchowski, Nonparametric analysis of clustered ROC curve data (1997); Newcombe, Confidence intervals for an
    effect size measure based on the Mann-Whitney statistic, part 2 (2006).

    Args:
        scores: of each answer.
        truth: of each answer.
        clusters: group of each answer; by default each is its own group.

    Returns:
        ``None`` without right or without wrong answers. The interval is left out if either are in one cluster only.

    Raises:
        ValueError: as ``praise``.
    """
    given, exact, labels = _checked(scores, truth, clusters)
    is_right = exact == 1
    m, n = int(is_right.sum()), int((~is_right).sum())
    if not m or not n:
        return None
    ranks = rankdata(given)
    above = (ranks[is_right] - rankdata(given[is_right])) / n  # share of the wrong ones below each right one
    below = 1 - (ranks[~is_right] - rankdata(given[~is_right])) / m  # share of the right ones above each wrong one
    value = min(1.0, float(above.mean()))
    ours, theirs = len(np.unique(labels[is_right])), len(np.unique(labels[~is_right]))
    groups = len(np.unique(labels))
    if min(ours, theirs) < 2:
        return Estimate(value, None, None, m + n, groups)
    parts = np.empty(m + n)
    parts[is_right], parts[~is_right] = (above - value) / m, (below - value) / n
    variance = max(sum_variance(parts, labels), sum_variance(parts, np.arange(m + n)))
    most = 4 * ours * theirs / (ours + theirs)
    as_many = min(most, value * (1 - value) / variance) if variance else most
    low, high = wilson_interval(value, as_many, float(student.ppf(0.975, min(ours, theirs) - 1)))
    return with_interval(value, low, high, m + n, groups)


def mean_error(
    scores: Sequence[float], truth: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Estimate | None:
    """Returns the mean difference of scores and truth, -1 to 1.

    Args:
        scores: of each answer, rescaled to the range of the truth: 0 for the lowest possible score, 1 for the highest.
        truth: of each answer.
        clusters: group of each answer; by default each is its own group.

    Returns:
        ``None`` if there are no answers. The interval is from ``bounded_mean`` on twice the range.

    Raises:
        ValueError: if the lengths differ, or a number is not within 0 and 1.
    """
    unit_values("scores", scores)
    given, exact, labels = _checked(scores, truth, clusters)
    return signed_mean((given - exact).tolist(), labels.tolist())


def drift(
    scores: Sequence[float],
    truth: Sequence[float],
    turns: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
) -> Estimate | None:
    """Returns the change of scores per turn at constant truth: the drift of the judge's error.

    It is the coefficient of the turn in a linear model of the score with a constant, the truth and the turn. Worse answers in
    later turns, or a compressed scale of the judge, are therefore not a drift. The interval is from the jackknife by cluster,
    with Student's quantile.

    Args:
        scores: of each answer.
        truth: of each answer.
        turns: number of the turn of each answer, or the length of its dialogue.
        clusters: group of each answer, e.g. its dialogue; by default each is its own group.

    Returns:
        The change of the score per turn, in units of the score; ``None`` if it is not identifiable: all answers are of one turn,
        or the turn determines the truth. The interval is left out if there are fewer than ``FEWEST_GROUPS`` clusters, the slope
        is undefined without one of them, or the jackknife has no variation, which is no certainty.

    Raises:
        ValueError: if the lengths differ, a score or turn is not finite or a truth not within 0 and 1.
    """
    given, exact, labels = _checked(scores, truth, clusters)
    when = np.asarray(turns, dtype=float)
    if len(when) != len(given) or not np.all(np.isfinite(when)):
        raise ValueError(f"turns: expected a finite number for each of {len(given)} answers, got {len(when)} numbers")
    if not len(given):
        return None
    columns = [column - column.mean() for column in (when, exact, given)]
    sums = _sums_by_cluster(labels, columns)
    every, groups = sums.sum(axis=1), sums.shape[1]
    value = float(_slopes(every[:, None])[0])
    if math.isnan(value):
        return None
    half = _jackknife_half(_slopes(every[:, None] - sums))
    if half is None:
        return Estimate(value, None, None, len(given), groups)
    return Estimate(value, value - half, value + half, len(given), groups)


def _jackknife_half(others: Floats) -> float | None:
    """Returns half the width of the jackknife's 95 % interval.

    Args:
        others: the statistic without each of the clusters.

    Returns:
        ``None`` if there are too few, the statistic is undefined without one of the clusters, or nothing varies.
    """
    groups = len(others)
    if groups < FEWEST_GROUPS or np.isnan(others).any() or np.ptp(others) < NOTHING:
        return None
    away = others - others.mean()
    return float(student.ppf(0.975, groups - 1)) * math.sqrt((groups - 1) / groups * float(away @ away))


def _sums_by_cluster(labels: Labels, columns: Sequence[Floats]) -> Floats:
    """Returns for each cluster (columns) the sums for covariances: number of cases, sums, and sums of products."""
    products = [one * other for one in columns for other in columns]
    return np.stack([np.bincount(labels, part) for part in (np.ones(len(labels)), *columns, *products)])


def _covariances(sums: Floats, size: int) -> Floats:
    """Returns the covariances of ``size`` columns, shape (size, size, samples), from the sums of each sample."""
    n = np.maximum(sums[0], 1)
    means = sums[1 : size + 1] / n
    covariances: Floats = (sums[size + 1 :] / n).reshape(size, size, -1) - means[:, None] * means
    return covariances


def _correlations(sums: Floats) -> Floats:
    """Returns the correlation of two columns for each sample; nan where it is undefined."""
    (first, both), (_, second) = _covariances(sums, 2)
    known = (first > NOTHING) & (second > NOTHING)
    found = both / np.sqrt(np.where(known, first * second, 1))
    return np.where(known, np.clip(found, -1, 1), np.nan)


def _slopes(sums: Floats) -> Floats:
    """Returns the slope of the third column on the first, controlling for the second; nan if it is not identifiable."""
    (turns, with_truth, with_score), (_, truth, truth_with_score), _ = _covariances(sums, 3)
    # A constant truth explains nothing.
    share = np.where(truth > NOTHING, with_truth / np.where(truth > NOTHING, truth, 1), 0)
    left = turns - share * with_truth
    known = left > NOTHING * np.maximum(turns, 1)
    found = (with_score - share * truth_with_score) / np.where(known, left, 1)
    return np.where(known, found, np.nan)


def _checked(
    scores: Sequence[float], truth: Sequence[float], clusters: Sequence[Hashable] | None
) -> tuple[Floats, Floats, Labels]:
    """Returns scores, truth and the cluster index of each answer."""
    if len(scores) != len(truth):
        raise ValueError(f"expected a truth for each of {len(scores)} scores, got {len(truth)}")
    given = np.asarray(scores, dtype=float)
    if not np.all(np.isfinite(given)):
        raise ValueError("scores: expected finite numbers; leave answers without a score out")
    return given, unit_values("truth", truth), cluster_labels(clusters, len(given))
