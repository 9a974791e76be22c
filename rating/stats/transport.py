"""Transport of a judge's calibration: does a score mean the same in one part (a game or a task) as in the others?

A correction of a judge by the truth of some parts is valid for other parts only if equal scores mean equal quality in both. The
truth is regressed on the score in all other parts. In the left-out part, two tests compare with this calibration: of the mean
residual, and of the slope. Their errors are of both sides and clustered by deal; p-values are corrected for both tests
(Bonferroni) and for the parts (Holm). A part without truth cannot be tested.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from rating.stats.estimates import NOTHING, Estimate, Floats, Labels, cluster_labels, sum_variance, with_interval
from rating.stats.prediction_powered import Flags
from rating.stats.simultaneous import holm

LEVEL = 0.05
"""Level at which a calibration differs."""

FEWEST_DEALS = 10
"""Minimum number of deals in a part, and in the others together, for a test."""


class PartError(NamedTuple):
    """The error in one part of a calibration from the others.

    Attributes:
        part: name of the part.
        error: mean truth minus the mean predicted from the scores, -1 to 1.
        p: p-value of the test of the same calibration, mean and slope, corrected for the number of parts.
    """

    part: str
    error: Estimate
    p: float


def transport(
    scores: Sequence[float], truth: Sequence[float], parts: Sequence[str], clusters: Sequence[Hashable]
) -> list[PartError]:
    """Tests each part against the calibration of all others.

    Args:
        scores: a judge's score of each item, in any unit.
        truth: 0 to 1 for each item.
        parts: part of each item.
        clusters: deal of each item, within one part.

    Returns:
        The parts with enough deals, by name; an empty list for fewer than two parts.
    """
    judged, exact, part_of = np.asarray(scores, dtype=float), np.asarray(truth, dtype=float), np.asarray(parts)
    labels = cluster_labels(list(zip(parts, clusters, strict=True)), len(judged))
    names = [str(name) for name in np.unique(part_of)]
    found = [(name, _error(judged, exact, labels, part_of == name)) for name in names] if len(names) > 1 else []
    tested = [(name, *one) for name, one in found if one is not None]
    corrected = holm([p for *_, p in tested])
    return [PartError(name, error, p) for (name, error, _), p in zip(tested, corrected, strict=True)]


def _error(judged: Floats, exact: Floats, labels: Labels, own: Flags) -> tuple[Estimate, float] | None:
    """Returns the mean residual of a part and the p-value, not corrected; ``None`` for too few deals or equal scores."""
    deals, others = len(np.unique(labels[own])), len(np.unique(labels[~own]))
    if min(deals, others) < FEWEST_DEALS or np.ptp(judged[~own]) < NOTHING:
        return None
    design = np.stack([np.ones(len(judged)), judged], axis=1)
    solve = np.linalg.pinv(design[~own].T @ design[~own])
    weights = solve @ (design[~own].T @ exact[~own])
    residuals = exact - design @ weights
    value, at = float(residuals[own].mean()), design[own].mean(axis=0)
    of_others = design[~own] @ solve * residuals[~own][:, None]
    # Equal residuals in a small part do not show their variance: it is at least the one of the other parts.
    variance = _variance(of_others @ at, labels[~own]) + max(
        _variance((residuals[own] - value) / own.sum(), labels[own]),
        float(residuals[~own] @ residuals[~own]) / (~own).sum() / deals,
    )
    error = max(float(np.sqrt(variance)), NOTHING)
    half = float(stdtrit(deals - 1, 0.975)) * error
    p = float(2 * stdtr(deals - 1, -abs(value) / error))
    if np.ptp(judged[own]) > NOTHING:
        apart = judged[own] - judged[own].mean()
        slope = float(apart @ residuals[own]) / float(apart @ apart)
        of_slope = apart * (residuals[own] - value - slope * apart) / float(apart @ apart)
        spread = np.sqrt(_variance(of_slope, labels[own]) + _variance(of_others[:, 1], labels[~own]))
        p = min(1.0, 2 * min(p, float(2 * stdtr(deals - 2, -abs(slope) / max(float(spread), NOTHING)))))
    return with_interval(value, value - half, value + half, int(own.sum()), deals, (-1, 1)), p


def _variance(parts: Floats, labels: Labels) -> float:
    """Returns the variance of a sum of parts with mean 0, clustered."""
    _, index = np.unique(labels, return_inverse=True)
    return sum_variance(parts, index)
