"""Calibration of ratings: predicted against observed scores.

Every result is predicted from ratings fitted without its deal: deals are split at random into ten groups, and the results of
each group are predicted from all others (cross-validation: Stone, Cross-validatory choice and assessment of statistical
predictions, 1974). So no prediction uses its own result or another result of the same deal.

Predictions are binned and compared with the mean score of each bin (Murphy and Winkler, Reliability of subjective probability
forecasts of precipitation and temperature, 1977). Brier score (Brier, Verification of forecasts expressed in terms of
probability, 1950) and logarithmic loss are proper scoring rules: predicting the true expected score minimises them (Gneiting
and Raftery, Strictly proper scoring rules, prediction, and estimation, 2007), also with ties as halves.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from rating.stats.bradley_terry import ELO_PER_NAT, BradleyTerryOptions, Comparisons, fit
from rating.stats.bradley_terry.model import probability
from rating.stats.estimates import NOTHING, Estimate, Floats, bounded_mean, signed_mean

PARTS = 10
"""Number of groups of deals in the cross-validation."""

_SURE = 1e-15
"""Minimum distance of a prediction from 0 and 1 in the logarithmic loss, which would be infinite otherwise."""

STEP = 0.05
"""Width of a bin of predictions."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of m results.

    Attributes:
        score: expected score of the first policy of each result, 0 to 1, shape (m,).
        guess: baseline prediction from the seats alone, without the policies, shape (m,).
    """

    score: Floats
    guess: Floats


class CalibrationBin(NamedTuple):
    """Results with similar predictions.

    Attributes:
        low: smallest prediction of the bin.
        high: upper limit of the bin; excluded, except in the last bin.
        predicted: mean of the predictions.
        observed: mean score of the favourites, clustered by deal. The interval is at least as wide as the exact one for as many
            independent results, because Wilson's interval for few results misses scores near 0 or 1 too often.
    """

    low: float
    high: float
    predicted: float
    observed: Estimate

    @property
    def is_met(self) -> bool:
        """Whether the prediction is within the interval of the observed score; true without an interval."""
        low, high = self.observed.low, self.observed.high
        return low is None or high is None or low <= self.predicted <= high


@dataclass(frozen=True)
class Calibration:
    """Predictions compared with results.

    Attributes:
        groups: bins by predicted score of the favourite, 0.5 to 1; empty bins are left out.
        deals: number of deals.
        brier: mean squared error, 0 to 1; smaller is better.
        brier_of_guess: Brier score of the baseline.
        log_loss: mean logarithmic loss, in nats.
        log_loss_of_guess: logarithmic loss of the baseline.
        gain: Brier score of the baseline minus the Brier score, clustered by deal.
    """

    groups: tuple[CalibrationBin, ...]
    deals: int
    brier: float
    brier_of_guess: float
    log_loss: float
    log_loss_of_guess: float
    gain: Estimate


def predict(comparisons: Comparisons) -> Predictions | None:
    """Predicts every result from the results of other deals by Bradley-Terry with a fitted prior width.

    Args:
        comparisons: m results.

    Returns:
        ``None`` for fewer than two deals.
    """
    deals, deal = np.unique(comparisons.cluster, return_inverse=True)
    if len(deals) < 2:
        return None
    part = (np.random.default_rng(0).permutation(len(deals)) % PARTS)[deal]
    score, guess = np.empty(len(deal)), np.full(len(deal), 0.5)
    for number in range(min(PARTS, len(deals))):
        own = part == number
        others = comparisons.select(~own)
        fitted = fit(others, BradleyTerryOptions(prior_sd="fitted"))
        first, second = comparisons.first[own], comparisons.second[own]
        lead = fitted.ratings[first] - fitted.ratings[second] + fitted.seat_advantage
        score[own] = probability(lead / ELO_PER_NAT)
        if comparisons.seated:
            # Half a win and half a loss are added: the baseline is never exactly 0 or 1.
            guess[own] = (others.score.sum() + 0.5) / (len(others.score) + 1)
    return Predictions(score, guess)


def calibrate(comparisons: Comparisons, predictions: Predictions) -> Calibration:
    """Compares predictions with results; weights are ignored.

    The favourite of a result has a prediction above one half; if both are equal, it is the first by name.
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
    """Widens an interval to at least the Clopper-Pearson interval (1934) for as many independent results."""
    if mean.low is None or mean.high is None:
        return mean
    won, lost = mean.n * mean.value, mean.n * (1 - mean.value)
    low = float(betaincinv(won, lost + 1, 0.025)) if won > NOTHING else 0.0
    high = float(betaincinv(won + 1, lost, 0.975)) if lost > NOTHING else 1.0
    return mean._replace(low=min(mean.low, low), high=max(mean.high, high))


def _log_loss(predicted: Floats, score: Floats) -> float:
    possible = np.clip(predicted, _SURE, 1 - _SURE)
    return float(-(score * np.log(possible) + (1 - score) * np.log1p(-possible)).mean())
