"""Calibration: whether what ratings predict comes true.

Every result is predicted from ratings that were fitted without its deal: the deals are dealt out to ten groups by lot, and the
results of each are predicted from those of all others (cross-validation: Stone, Cross-validatory choice and assessment of
statistical predictions, 1974). So no prediction knows its own result, nor another one of the same deal, which is like it.

Predictions are grouped by size and compared with what came out in each group (Murphy and Winkler, Reliability of subjective
probability forecasts of precipitation and temperature, 1977). Brier score (Brier, Verification of forecasts expressed in terms of
probability, 1950) and logarithmic loss are proper: nobody expects to do better than by saying the expected score as it is
(Gneiting and Raftery, Strictly proper scoring rules, prediction, and estimation, 2007), ties as halves included.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import beta

from rating.statistics.bounded import NOTHING, bounded_mean, signed_mean
from rating.statistics.bradley_terry import ELO_PER_NAT, BradleyTerryOptions, Comparisons, Floats, fit
from rating.statistics.bradley_terry.model import probability
from rating.statistics.estimates import Estimate

PARTS = 10
"""Into which the deals are split."""

_SURE = 1e-15
"""What differs from 0 or 1 by less is rounded to them, and no loss can be told of what was impossible."""

STEP = 0.05
"""Width of a group of predictions."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """What was predicted of m results.

    Attributes:
        score: expected of the first of each result, 0 to 1, shape (m,).
        guess: the same by somebody who does not know who plays, only which seat is whose, from the same results, shape (m,).
    """

    score: Floats
    guess: Floats


class CalibrationBin(NamedTuple):
    """Results of which much the same was predicted.

    Attributes:
        low: smallest prediction that belongs to it.
        high: those from here on belong to the next one, if there is one.
        predicted: mean of the predictions.
        observed: mean score of the favourites, clustered by deal; its interval is no narrower than the exact one of as many
            independent results: of a few, Wilson's alone would miss a score near 0 or 1 too often.
    """

    low: float
    high: float
    predicted: float
    observed: Estimate

    @property
    def is_met(self) -> bool:
        """Whether the prediction is within the interval of the observed score, or there is no interval."""
        low, high = self.observed.low, self.observed.high
        return low is None or high is None or low <= self.predicted <= high


@dataclass(frozen=True)
class Calibration:
    """Predictions beside what came out.

    Attributes:
        groups: by predicted score of the favourite, 0.5 to 1; those without a result are left out.
        deals: number of them.
        brier: mean squared error, 0 to 1; the smaller the better.
        brier_of_guess: that of the guess.
        log_loss: mean logarithmic loss, in nats.
        log_loss_of_guess: that of the guess.
        gain: by how much the Brier score is smaller than that of the guess, clustered by deal.
    """

    groups: tuple[CalibrationBin, ...]
    deals: int
    brier: float
    brier_of_guess: float
    log_loss: float
    log_loss_of_guess: float
    gain: Estimate


def predict(comparisons: Comparisons, options: BradleyTerryOptions | None = None) -> Predictions | None:
    """Predicts every result from those of other deals by Bradley-Terry.

    Args:
        comparisons: m results.
        options: what is fitted; by default with a prior as wide as the pool.

    Returns:
        ``None`` if there are fewer than two deals.
    """
    options = options or BradleyTerryOptions(prior_sd="fitted")
    deals, deal = np.unique(comparisons.cluster, return_inverse=True)
    if len(deals) < 2:
        return None
    part = (np.random.default_rng(0).permutation(len(deals)) % PARTS)[deal]
    score, guess = np.empty(len(deal)), np.full(len(deal), 0.5)
    for number in range(min(PARTS, len(deals))):
        own = part == number
        others = comparisons.select(~own)
        fitted = fit(others, options)
        first, second = comparisons.first[own], comparisons.second[own]
        lead = fitted.ratings[first] - fitted.ratings[second] + fitted.seat_advantage
        score[own] = probability(lead / ELO_PER_NAT)
        if comparisons.seated:
            # Half a win and half a loss more: nobody guesses what never happened to be impossible.
            guess[own] = (others.score.sum() + 0.5) / (len(others.score) + 1)
    return Predictions(score, guess)


def calibrate(comparisons: Comparisons, predictions: Predictions) -> Calibration:
    """Compares predictions with results; every result counts alike, whatever its weight.

    The favourite of a result is the one of whom more than half was predicted; of equals it is the one whose name comes first.
    """
    score, deal = comparisons.score, comparisons.cluster
    is_favourite = (predictions.score > 0.5) | ((predictions.score == 0.5) & (comparisons.first < comparisons.second))
    predicted = np.where(is_favourite, predictions.score, 1 - predictions.score)
    observed = np.where(is_favourite, score, 1 - score)
    steps = round(0.5 / STEP)
    place = np.clip(((predicted - 0.5) / STEP).astype(int), 0, steps - 1)
    groups = []
    for number in range(steps):
        own = place == number
        mean = bounded_mean(observed[own].tolist(), deal[own].tolist())
        if mean is not None:
            low = 0.5 + number * STEP
            groups.append(CalibrationBin(low, low + STEP, float(predicted[own].mean()), _with_exact_interval(mean)))
    ours, theirs = (predictions.score - score) ** 2, (predictions.guess - score) ** 2
    gain = signed_mean((theirs - ours).tolist(), deal.tolist())
    assert gain is not None
    return Calibration(
        tuple(groups),
        gain.clusters,
        float(ours.mean()),
        float(theirs.mean()),
        _log_loss(predictions.score, score),
        _log_loss(predictions.guess, score),
        gain,
    )


def _with_exact_interval(mean: Estimate) -> Estimate:
    """Widens an interval where that of Clopper and Pearson (1934) for as many independent results is wider."""
    if mean.low is None or mean.high is None:
        return mean
    won, lost = mean.n * mean.value, mean.n * (1 - mean.value)
    low = float(beta.ppf(0.025, won, lost + 1)) if won > NOTHING else 0.0
    high = float(beta.ppf(0.975, won + 1, lost)) if lost > NOTHING else 1.0
    return mean._replace(low=min(mean.low, low), high=max(mean.high, high))


def _log_loss(predicted: Floats, score: Floats) -> float:
    possible = np.clip(predicted, _SURE, 1 - _SURE)
    return float(-(score * np.log(possible) + (1 - score) * np.log1p(-possible)).mean())
