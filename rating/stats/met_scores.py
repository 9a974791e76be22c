"""Mean score of each policy against its opponents, with an interval conditional on these opponents.

The estimate is of the mean expected score over the matches as scheduled. Only the results are random, not the opponents. The
variance of a match is the Bradley-Terry fit's, averaged over the distribution of the ratings, times the dispersion: the squares
of the residuals, summed by deal, over their expectation. The interval is Wilson's (1927) for the number of independent matches
with the same variance, with Student's quantile.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rating.stats.bradley_terry import ELO_PER_NAT, Comparisons, fit
from rating.stats.bradley_terry.fitting import BradleyTerryFit
from rating.stats.bradley_terry.model import probability
from rating.stats.estimates import Estimate, wilson_interval, with_interval

Floats = NDArray[np.float64]

_PRIOR_MATCHES = 8.0
"""Prior weight of a dispersion of 1, in even matches of variance 1/4: results without an upset do not exclude it."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


def met_scores(comparisons: Comparisons, fitted: BradleyTerryFit) -> dict[str, Estimate]:
    """Returns the mean score of each policy, clustered by deal.

    Args:
        comparisons: results, each of weight 1.
        fitted: ratings fitted to the same results, with the options to use.
    """
    plain = fit(comparisons, fitted.options)  # has the covariance of the model
    first, second, size = comparisons.first, comparisons.second, len(comparisons.policies)
    policy = np.concatenate((first, second))
    score = np.concatenate((comparisons.score, 1 - comparisons.score))
    expected, mean, variance = _expected(comparisons, plain)
    residual = score - np.concatenate((expected, 1 - expected))
    information = np.tile(expected * (1 - expected), 2)
    cells, cell = np.unique(np.tile(comparisons.cluster, 2) * size + policy, return_inverse=True)
    deals = len(np.unique(comparisons.cluster))
    # The residuals of a deal add up to 0.
    known = len(cells) - deals
    free = max(known - size + 1 - int(plain.options.seat_term), 1)
    squares = float(np.sum(np.bincount(cell, residual) ** 2)) * known / free
    dispersion = (squares + _PRIOR_MATCHES / 4) / (float(information.sum()) + _PRIOR_MATCHES / 4)
    matches = np.bincount(policy, minlength=size)
    value = np.bincount(policy, score, minlength=size) / matches
    centre = np.bincount(policy, np.concatenate((mean, 1 - mean)), minlength=size) / matches
    error = dispersion * np.bincount(policy, np.tile(variance, 2), minlength=size) / matches**2
    quantile = float(stdtrit(free, 0.975))
    clusters = np.bincount(cells % size, minlength=size)
    return {
        name: with_interval(
            float(value[index]),
            *wilson_interval(float(value[index]), float(centre[index] * (1 - centre[index]) / error[index]), quantile),
            int(matches[index]),
            int(clusters[index]),
            (0.0, 1.0),
        )
        for index, name in enumerate(comparisons.policies)
    }


def _expected(comparisons: Comparisons, fitted: BradleyTerryFit) -> tuple[Floats, Floats, Floats]:
    """Returns for each result the expected score of the first policy, its mean, and the mean variance of the score.

    Means are over the distribution of the difference of ratings.
    """
    first, second = comparisons.first, comparisons.second
    seat = fitted.seat_advantage if fitted.options.seat_term else 0.0
    lead = (fitted.ratings[first] - fitted.ratings[second] + seat) / ELO_PER_NAT
    own = np.diag(fitted.covariance)
    spread = np.sqrt(np.clip(own[first] + own[second] - 2 * fitted.covariance[first, second], 0, None)) / ELO_PER_NAT
    chances = probability(lead[:, None] + spread[:, None] * _NODES)
    weights = _WEIGHTS / _WEIGHTS.sum()
    return probability(lead), chances @ weights, (chances * (1 - chances)) @ weights
