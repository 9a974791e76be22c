"""Logistic regression in which every stratum has a level of its own, with Firth's penalty.

Sources: Firth, "Bias reduction of maximum likelihood estimates" (1993), for the penalty, by which estimates are finite where
outcomes are separated and nearly unbiased where strata are small; Heinze and Schemper, "A solution to the problem of separation
in logistic regression" (2002), for tests and intervals by the penalised likelihood ratio.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_STEPS = 100
_LONGEST_STEP = 5.0
_CLOSE = 1e-6
_HALF_DEVIANCE_95 = float(chi2.ppf(0.95, 1)) / 2


class Effect(NamedTuple):
    """A coefficient.

    Attributes:
        value: in logits per unit of its covariate.
        low: lower end of its 95 % interval.
        high: upper end.
        p: of the test that it is 0.
    """

    value: float
    low: float
    high: float
    p: float


def stratified_effect(hits: NDArray[np.bool_], covariates: Floats, strata: Integers) -> Effect | None:
    """Returns the coefficient of the last covariate.

    Args:
        hits: outcomes, shape (n,).
        covariates: shape (n, k).
        strata: shape (n,), 0 or more.

    Returns:
        ``None`` if the last covariate does not vary within strata, or only as the others do.
    """
    centred = covariates - _means(covariates, np.ones(len(strata)), strata)
    varies = np.abs(centred).max(axis=0, initial=0) > 1e-9 * np.abs(covariates).max(axis=0, initial=0)
    if not varies[-1] or np.linalg.matrix_rank(centred[:, varies]) < np.count_nonzero(varies):
        return None
    scales = centred[:, varies].std(axis=0)
    model = _Model(hits.astype(float), centred[:, varies] / scales, strata)
    found = model.fitted()
    best, width = float(found.slopes[-1]), float(np.sqrt(np.linalg.inv(found.curvature)[-1, -1]))

    def excess(value: float) -> float:
        return found.likelihood - model.fitted(value, found).likelihood - _HALF_DEVIANCE_95

    ends = []
    for side in (-1, 1):
        outer = 2 * width
        while excess(best + side * outer) < 0 and outer < 1_000 * width:
            outer *= 2
        end = best + side * outer
        ends.append(brentq(excess, best, end, xtol=1e-4 * width) if excess(end) > 0 else end)
    p = float(chi2.sf(max(0.0, 2 * (found.likelihood - model.fitted(0.0, found).likelihood)), 1))
    scale = float(scales[-1])
    return Effect(best / scale, ends[0] / scale, ends[1] / scale, p)


class _Fit(NamedTuple):
    """Parameters, and what follows from them.

    Attributes:
        levels: of strata, in logits.
        slopes: of covariates.
        likelihood: the penalised log likelihood.
        residual: outcomes less their probabilities, penalty included.
        weights: variances of the outcomes.
        means: of the covariates by stratum, weighted.
        curvature: information on the slopes beside that on the levels.
    """

    levels: Floats
    slopes: Floats
    likelihood: float
    residual: Floats
    weights: Floats
    means: Floats
    curvature: Floats


class _Model:
    """Outcomes and covariates.

    Args:
        hits: 0 or 1.
        covariates: of each outcome.
        strata: of each outcome.
    """

    def __init__(self, hits: Floats, covariates: Floats, strata: Integers) -> None:
        self._hits, self._covariates = hits, covariates
        self._strata = np.unique(strata, return_inverse=True)[1]

    def fitted(self, last: float | None = None, near: _Fit | None = None) -> _Fit:
        """Returns the parameters of the greatest penalised likelihood.

        Args:
            last: the value of the last slope; it is fitted as well by default.
            near: where to begin.
        """
        levels = near.levels if near else np.zeros(int(self._strata.max()) + 1)
        slopes = near.slopes.copy() if near else np.zeros(self._covariates.shape[1])
        free = len(slopes)
        if last is not None:
            slopes[-1], free = last, free - 1
        found = self._at(levels, slopes)
        for _ in range(_MOST_STEPS):
            score = self._covariates - found.means[self._strata]
            step = np.zeros_like(slopes)
            step[:free] = np.linalg.solve(found.curvature[:free, :free], score.T[:free] @ found.residual)
            level_step = self._sums(found.residual) / self._sums(found.weights) - found.means @ step
            size = float(max(np.abs(step).max(), np.abs(level_step).max()))
            share = min(1.0, _LONGEST_STEP / max(size, _CLOSE))
            for _ in range(20):
                new = self._at(found.levels + share * level_step, found.slopes + share * step)
                if new.likelihood >= found.likelihood - 1e-10:
                    break
                share /= 2
            found = new
            if size < _CLOSE:
                break
        return found

    def _at(self, levels: Floats, slopes: Floats) -> _Fit:
        logits = levels[self._strata] + self._covariates @ slopes
        expected = 0.5 * (1 + np.tanh(0.5 * logits))
        weights = np.maximum(expected * (1 - expected), 1e-12)
        means = _by_stratum(self._covariates, weights, self._strata)
        centred = self._covariates - means[self._strata]
        curvature = (centred * weights[:, None]).T @ centred
        masses = self._sums(weights)
        spread = ((centred @ np.linalg.pinv(curvature)) * centred).sum(axis=1)
        leverage = weights * (1 / masses[self._strata] + spread)
        likelihood = -float(np.logaddexp(0, np.where(self._hits == 1, -logits, logits)).sum())
        penalty = 0.5 * (float(np.log(masses).sum()) + float(np.linalg.slogdet(curvature)[1]))
        residual = self._hits - expected + leverage * (0.5 - expected)
        return _Fit(levels, slopes, likelihood + penalty, residual, weights, means, curvature)

    def _sums(self, values: Floats) -> Floats:
        return np.bincount(self._strata, values).astype(np.float64)


def _by_stratum(values: Floats, weights: Floats, strata: Integers) -> Floats:
    """Returns weighted means of columns, shape (strata, k)."""
    sums = np.stack([np.bincount(strata, weights * column) for column in values.T], axis=1)
    return np.asarray(sums / np.bincount(strata, weights)[:, None], dtype=np.float64)


def _means(values: Floats, weights: Floats, strata: Integers) -> Floats:
    """Returns for each row the mean of its stratum."""
    places = np.unique(strata, return_inverse=True)[1]
    return np.asarray(_by_stratum(values, weights, places)[places], dtype=np.float64)
