"""Severity and discrimination of raters, by a graded response model with raters in the place of test items.

Rater j gives item i at least category k with the probability logistic(a_j (q_i - s_j - t_k)): q_i is the quality of the item, s_j
the severity of the rater, a_j its discrimination and t_k the common thresholds.

Identification: qualities are standard normal, which fixes location and scale; severities are relative to the mean rater. Two
raters do not identify their discriminations, so three are required, with shared items that link them. The likelihood is
integrated over q_i by Gauss-Hermite quadrature and penalised: log a_j has a standard normal prior, s_j a normal one of width 2.
Intervals are from the observed information.

Sources: Samejima, Estimation of latent ability using a response pattern of graded scores (1969); Linacre, Many-facet Rasch
measurement (1989); Bock and Aitkin, Marginal maximum likelihood estimation of item parameters (1981).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from rating.stats.estimates import Z_95, Estimate, Floats

FEWEST_SHARED = 30
"""Minimum number of items that a rater shares with another one."""

FEWEST_RATERS = 3

MOST_RATERS, MOST_RATINGS = 60, 100_000

_CATEGORIES = 10
"""Maximum number of categories; more distinct scores are grouped, equally many in each."""

_SEVERITY_SD, _GAP_SD = 2.0, 3.0
_STEP = 1e-4
_LEAST = 1e-12

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())


class RaterScale(NamedTuple):
    """A rater on the common scale.

    Attributes:
        rater: name.
        severity: in standard deviations of the items' quality, above the mean rater; positive gives lower scores.
        discrimination: change of the log odds of a higher score for one standard deviation of quality; 0 is chance.
    """

    rater: str
    severity: Estimate
    discrimination: Estimate


@dataclass(frozen=True)
class RaterFit:
    """The fitted raters, or why there is no fit.

    Attributes:
        raters: by name; empty if the fit was refused.
        refused: why; empty if it was not.
    """

    raters: tuple[RaterScale, ...] = ()
    refused: str = ""


def fit_raters(cases: Mapping[str, Mapping[str, float]]) -> RaterFit:
    """Fits severity and discrimination of every rater with enough shared items; the others are left out.

    Args:
        cases: score by rater name, for each item.
    """
    shared = [case for _, case in sorted(cases.items()) if len(case) > 1]
    counts: dict[str, int] = {}
    for case in shared:
        for rater in case:
            counts[rater] = counts.get(rater, 0) + 1
    names = sorted(rater for rater, count in counts.items() if count >= FEWEST_SHARED)
    if not FEWEST_RATERS <= len(names) <= MOST_RATERS:
        return RaterFit(
            refused=f"expected {FEWEST_RATERS} to {MOST_RATERS} judges with {FEWEST_SHARED} shared items, got {len(names)}"
        )
    index = {rater: place for place, rater in enumerate(names)}
    ratings = [
        (item, index[rater], score)
        for item, case in enumerate(shared)
        for rater, score in sorted(case.items())
        if rater in index
    ]
    if len(ratings) > MOST_RATINGS:
        return RaterFit(refused=f"expected at most {MOST_RATINGS} verdicts, got {len(ratings)}")
    item, rater, score = np.array(ratings).T
    item, rater = item.astype(np.intp), rater.astype(np.intp)
    links = csr_array((np.ones(len(item)), (item, len(shared) + rater)), shape=(len(shared) + len(names),) * 2)
    _, component = connected_components(links, directed=False)
    if len(np.unique(component[len(shared) :])) > 1:
        return RaterFit(refused="expected shared items that link all judges, got judges in separate groups")
    category = _categories(score)
    if category.max() == 0:
        return RaterFit(refused="expected verdicts of two kinds, got equal ones")
    return RaterFit(_fit(names, item, rater, category, len(shared)))


def _categories(score: Floats) -> np.ndarray:
    values, category = np.unique(score, return_inverse=True)
    if len(values) <= _CATEGORIES:
        return category
    edges = np.unique(np.quantile(score, np.arange(1, _CATEGORIES) / _CATEGORIES))
    return np.unique(np.searchsorted(edges, score, side="left"), return_inverse=True)[1]


def _fit(
    names: list[str], item: np.ndarray, rater: np.ndarray, category: np.ndarray, items: int
) -> tuple[RaterScale, ...]:
    size, kinds = len(names), int(category.max()) + 1
    member = csr_array((np.ones(len(item)), (item, rater * kinds + category)), shape=(items, size * kinds))
    share = np.array([(category >= kind).mean() for kind in range(1, kinds)])
    thresholds = np.log((1 - share) / share)
    gaps = np.log(np.maximum(np.diff(thresholds), 0.05))
    start = np.concatenate([np.zeros(2 * size), thresholds[:1], gaps])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        return _loss(parameters, member, size, kinds)

    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "maxfun": 2000}).x
    steps = np.eye(len(best)) * _STEP
    information = np.array([(loss(best + step)[1] - loss(best - step)[1]) / (2 * _STEP) for step in steps])
    covariance = np.linalg.pinv((information + information.T) / 2)
    centre = np.eye(size) - 1 / size
    severity, log_slope = centre @ best[size : 2 * size], best[:size]
    of_severity = np.sqrt(np.diag(centre @ covariance[size : 2 * size, size : 2 * size] @ centre.T))
    of_slope = np.sqrt(np.diag(covariance)[:size])
    counts = np.bincount(rater, minlength=size)
    return tuple(
        RaterScale(
            name,
            _interval(float(severity[place]), float(of_severity[place]), int(counts[place])),
            _exponential(float(log_slope[place]), float(of_slope[place]), int(counts[place])),
        )
        for place, name in enumerate(names)
    )


def _interval(value: float, error: float, n: int) -> Estimate:
    return Estimate(value, value - Z_95 * error, value + Z_95 * error, n, n)


def _exponential(value: float, error: float, n: int) -> Estimate:
    low, high = np.exp([value - Z_95 * error, value + Z_95 * error]).tolist()
    return Estimate(float(np.exp(value)), low, high, n, n)


def _loss(parameters: Floats, member: csr_array, size: int, kinds: int) -> tuple[float, Floats]:
    """Returns the negative penalised log-likelihood and its gradient.

    Args:
        parameters: log discriminations, severities, the first threshold, logarithms of the gaps between thresholds.
        member: whether an item (row) has a category by a rater (column: rater times category).
        size: number of raters.
        kinds: number of categories.
    """
    log_slope, severity, gaps = parameters[:size], parameters[size : 2 * size], parameters[2 * size + 1 :]
    slope, widths = np.exp(log_slope), np.exp(gaps)
    thresholds = parameters[2 * size] + np.concatenate([[0.0], np.cumsum(widths)])
    apart = _NODES[None, None, :] - severity[:, None, None] - thresholds[None, :, None]
    at_least = expit(slope[:, None, None] * apart)
    edges = np.concatenate([np.ones_like(at_least[:, :1]), at_least, np.zeros_like(at_least[:, :1])], axis=1)
    chances = np.maximum(edges[:, :-1] - edges[:, 1:], _LEAST)
    joint = member @ np.log(chances).reshape(size * kinds, -1) + _LOG_WEIGHTS
    top = joint.max(axis=1, keepdims=True)
    posterior = np.exp(joint - top)
    totals = posterior.sum(axis=1, keepdims=True)
    counts = (member.T @ (posterior / totals)).reshape(size, kinds, -1) / chances
    slopes = at_least * (1 - at_least) * (counts[:, 1:] - counts[:, :-1])  # with respect to the logits
    by_threshold = -(slopes * slope[:, None, None]).sum(axis=(0, 2))
    gradient = np.concatenate(
        [
            (slopes * apart).sum(axis=(1, 2)) * slope - log_slope,
            -slopes.sum(axis=(1, 2)) * slope - severity / _SEVERITY_SD**2,
            [by_threshold.sum()],
            by_threshold[::-1].cumsum()[::-1][1:] * widths - gaps / _GAP_SD**2,
        ]
    )
    penalty = log_slope @ log_slope + severity @ severity / _SEVERITY_SD**2 + gaps @ gaps / _GAP_SD**2
    return float(penalty / 2 - (top + np.log(totals)).sum()), -gradient
