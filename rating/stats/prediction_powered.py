"""Prediction-powered inference: a mean over all items from the truth of some items and a judge's scores of all.

A judge's mean score has the judge's bias; the mean of the items with known truth is unbiased, but has a large variance.
Together they give an unbiased estimate with less variance: the scores show the difference between the other items and the known
ones, and the known items show the judge's errors.

Sources: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Prediction-powered inference (Science 382, 2023); Angelopoulos, Duchi
and Zrnic, PPI++: Efficient prediction-powered inference (arXiv 2311.01453) for power tuning. Their normal interval is too narrow
for few known items and for judges with rare errors; ``corrected_mean`` corrects this.
"""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from rating.stats.estimates import (
    NOTHING,
    Estimate,
    Floats,
    Labels,
    bounded_mean,
    cluster_labels,
    unit_values,
    wilson_interval,
    with_interval,
)

Flags = NDArray[np.bool_]

FEWEST_TRUE = 30
"""Minimum number of deals with known truth for a corrected score of a leaderboard; coverage holds from there on."""


class TrueScore(NamedTuple):
    """A policy's mean score by the truth, from a judge's scores and a part with known truth.

    Attributes:
        corrected: prediction-powered mean of the truth; ``None`` if fewer than ``FEWEST_TRUE`` deals have a known truth and some
            have none.
        judged: mean of the judge's scores; its interval holds chance but not the judge's error.
        share: share of the items with known truth, 0 to 1.
        true_deals: number of deals with known truth.
    """

    corrected: Estimate | None
    judged: Estimate
    share: float
    true_deals: int


def true_score(
    scores: Sequence[float], truth: Sequence[float | None], clusters: Sequence[Hashable] | None = None
) -> TrueScore | None:
    """Returns the judge's mean score and the corrected one (``corrected_mean``).

    Args:
        scores: a judge's score of each item, 0 to 1.
        truth: as in ``corrected_mean``.
        clusters: as in ``corrected_mean``.

    Returns:
        ``None`` without items.
    """
    judged = bounded_mean(scores, clusters)
    if judged is None:
        return None
    labels = cluster_labels(clusters, len(scores))
    known = np.array([value is not None for value in truth], dtype=bool)
    true_deals = len(np.unique(labels[known]))
    found = corrected_mean(scores, truth, clusters) if true_deals >= FEWEST_TRUE or known.all() else None
    return TrueScore(found and found.corrected, judged, float(known.mean()), true_deals)


class CorrectedMean(NamedTuple):
    """The mean truth of all items.

    Attributes:
        known: mean over the items with known truth: the estimate without a judge.
        corrected: mean over all items; equal to ``known`` if the scores are not used.
        weight: change of the truth per point of the score; 0 if the scores are not used: the truth is known for all items, for
            fewer than three clusters, or for all but one cluster; it is the same in all known items; scores do not rise
            with it; or they would not reduce the variance.
    """

    known: Estimate
    corrected: Estimate
    weight: float


def corrected_mean(
    scores: Sequence[float],
    truth: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
) -> CorrectedMean | None:
    """Returns the mean truth of all items from a judge's scores of all and the truth of some.

    The items with known truth must be like a random sample of all: for tasks of another kind the correction uses the judge's
    errors on the wrong kind. The judge may have any quality.

    The weight of the scores is the non-negative one with the smallest estimated variance (power tuning), with the variance
    between clusters; a cluster may have items of both sorts. Scores can be in any unit, since the weight can exceed 1. The
    interval is Wilson's for the effective number of independent items, with Student's quantile (Satterthwaite's degrees of
    freedom, minus one for the weight). A judge without errors on a few known items is not taken as always right: the variance of
    its errors is at least the variance from a single error, with the size of the differences in truth between known clusters.

    Args:
        scores: a judge's score of each item, in any unit.
        truth: 0 to 1 for each item, e.g. whether the answer is right or its right share; ``None`` if unknown.
        clusters: group of each item, e.g. a dialogue; by default each is its own group.

    Returns:
        ``None`` if the truth is unknown for all items.

    Raises:
        ValueError: if the lengths differ, a score is not finite or a truth not within 0 and 1.
    """
    if len(scores) != len(truth):
        raise ValueError(f"expected a truth or None for each of {len(scores)} scores, got {len(truth)}")
    judged, labels = np.asarray(scores, dtype=float), cluster_labels(clusters, len(scores))
    if not np.all(np.isfinite(judged)):
        raise ValueError("scores: expected finite numbers; leave items without a score out")
    is_known = np.array([value is not None for value in truth], dtype=bool)
    exact = unit_values("truth", [value for value in truth if value is not None])
    known = bounded_mean(exact.tolist(), labels[is_known].tolist())
    if known is None:
        return None
    n, groups = len(judged), len(np.unique(labels))
    without = CorrectedMean(known, known._replace(n=n, clusters=groups), 0.0)
    others = len(np.unique(labels[~is_known]))
    if known.clusters < 3 or others < 2 or np.ptp(exact) < NOTHING:
        return without
    by_cluster = _Sums.of(exact, judged, is_known, labels)
    by_item = _Sums.of(exact, judged, is_known, np.arange(n))
    weight = by_cluster.best_weight()
    if not weight > 0:
        return without
    # Items of a cluster never count for more than the same number of independent ones.
    variance, freedom = max(by_cluster.variance(weight), by_item.variance(weight))
    if variance >= max(by_cluster.variance_without(), by_item.variance_without()):
        return without
    difference = float(judged[~is_known].mean() - judged[is_known].mean())
    value = min(1.0, max(0.0, known.value + weight * difference))
    # The binomial variance of a value at 0 or 1 is 0, so the value of the known items is used.
    as_many = known.value * (1 - known.value) / variance
    low, high = wilson_interval(value, as_many, float(student.ppf(0.975, freedom)))
    return CorrectedMean(known, with_interval(value, low, high, n, groups), weight)


class _Sums(NamedTuple):
    """Contributions of each cluster to the error of an estimate; its variance is the sum of the squares.

    Attributes:
        truth: to the error of the mean truth of the known items.
        scores: to the error of the mean score of the known items.
        others: to the error of the mean score of the other items, with the opposite sign.
        known: number of clusters with known items.
        unknown: number of clusters with other items.
    """

    truth: Floats
    scores: Floats
    others: Floats
    known: int
    unknown: int

    @classmethod
    def of(cls, exact: Floats, judged: Floats, is_known: Flags, labels: Labels) -> "_Sums":
        """Sums the contributions of all items by cluster, scaled for an unbiased sum of squares with few clusters."""
        size = int(labels.max()) + 1
        inside, outside = labels[is_known], labels[~is_known]
        known, unknown = len(np.unique(inside)), len(np.unique(outside))

        def sums(values: Floats, which: Labels, clusters: int) -> Floats:
            parts = (values - values.mean()) / len(values) * math.sqrt(clusters / (clusters - 1))
            return np.bincount(which, parts, minlength=size).astype(float)

        return cls(
            sums(exact, inside, known),
            sums(judged[is_known], inside, known),
            -sums(judged[~is_known], outside, unknown),
            known,
            unknown,
        )

    def best_weight(self) -> float:
        """Returns the weight of the scores with the smallest variance; 0 if scores do not vary."""
        moved = self.scores + self.others
        size = float(moved @ moved)
        return float(self.truth @ moved) / size if size else 0.0

    def variance(self, weight: float) -> tuple[float, float]:
        """Returns the variance of the corrected mean, and its degrees of freedom."""
        errors, imputed = self.truth - weight * self.scores, weight * self.others
        of_errors = max(float(errors @ errors) * (self.known - 1) / (self.known - 2), float(np.ptp(self.truth)) ** 2)
        of_imputed = float(imputed @ imputed)
        spread = of_errors**2 / (self.known - 2) + of_imputed**2 / (self.unknown - 1)
        together = of_errors - 2 * float(errors @ imputed) + of_imputed
        return together, (of_errors + of_imputed) ** 2 / spread

    def variance_without(self) -> float:
        """Returns the variance of the mean truth of the known items."""
        return float(self.truth @ self.truth)
