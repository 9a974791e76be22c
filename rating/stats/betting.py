"""Anytime-valid evidence against a bound on the mean of scores, by betting.

The null hypothesis is "every next score has an expectation of at most m". A player with wealth 1 bets on each score x, 0 to 1,
before it is observed: a stake f, a share of the wealth, multiplies the wealth by ``1 + f (x / m - 1)``. Under the null
hypothesis no sequence of such bets has an expected gain, so the wealth, the *e-value*, ever reaches 1 / level with a
probability of at most ``level``, at any stopping time (Ville 1939). Twelve players bet fixed shares, from small to large, and
the e-value is their total wealth. The size of the difference need not be known: the best player soon has almost all of the
wealth. The final total does not depend on the order of the scores.

The refuted bounds m lie below a number that can only rise: a confidence sequence, which covers the mean at all times with
probability 1 - level.

The only assumption is the range of the scores. They can be fractions, skewed, of any variance, and dependent on earlier scores.

Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (arXiv 2010.09686, section 4); a
mixture of test martingales is a test martingale.
"""

import numpy as np
from numpy.typing import NDArray

from rating.stats.estimates import Floats

BETS: Floats = np.geomspace(0.01, 0.98, 12)
"""Shares of wealth that the players bet. Small shares detect small differences; below 1, no single score ruins a player."""

CAPITAL: Floats = np.sqrt(BETS) / np.sqrt(BETS).sum()
"""Initial wealth of each player, 1 in total; more for large shares, which decide soon if the difference is large."""

MOST = 1e300
"""Upper limit of a reported e-value."""

_STEPS = 20
"""Bisection steps for a bound; the result is exact to one millionth."""


def log_stakes(scores: Floats, mean: float, weights: Floats | None = None) -> Floats:
    """Returns the log growth factor of each player's wealth for each score.

    Weights scale the stakes; the test is then of the weighted mean.

    Args:
        scores: 0 to 1, shape (..., t).
        mean: the tested bound, above 0 and below 1.
        weights: above 0 and at most 1, shape (..., t); all 1 by default. They must be known before the scores.

    Returns:
        Shape (..., t, number of players).
    """
    gains = scores / mean - 1
    if weights is not None:
        gains = gains * weights
    logs: Floats = np.log1p(gains[..., None] * BETS)
    return logs


def log_evidence(scores: Floats, mean: float, weights: Floats | None = None) -> Floats:
    """Returns the logarithm of the e-value after each score against "the mean is at most ``mean``".

    Args:
        scores: 0 to 1, shape (..., t), in an order that does not depend on them.
        mean: above 0 and below 1.
        weights: as ``log_stakes``.

    Returns:
        Shape (..., t).
    """
    return log_wealth(np.cumsum(log_stakes(scores, mean, weights), axis=-2))


def final_log_evidence(scores: Floats, mean: float, weights: Floats | None = None) -> float:
    """Returns the last value of ``log_evidence`` for one or more scores, bitwise independent of their order."""
    return float(log_wealth(_total(*_tally(scores, weights), mean)))


def _tally(scores: Floats, weights: Floats | None) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Returns the distinct scores with their weights and counts."""
    if weights is None:
        different, counts = np.unique(scores, return_counts=True)
        return different, np.ones(len(different)), counts
    both, counts = np.unique(np.stack([scores, weights], axis=1), axis=0, return_counts=True)
    return both[:, 0], both[:, 1], counts


def _total(scores: Floats, weights: Floats, counts: NDArray[np.int64], mean: float) -> Floats:
    total: Floats = counts @ log_stakes(scores, mean, weights)
    return total


def log_wealth(logs: Floats) -> Floats:
    """Returns the logarithm of the total wealth.

    Args:
        logs: log factor of the wealth of each player, shape (..., number of players).
    """
    most = logs.max(axis=-1, keepdims=True)
    wealth: Floats = np.log(np.exp(logs - most) @ CAPITAL) + most[..., 0]
    return wealth


def lower_bound(scores: Floats, level: float, weights: Floats | None = None, *, ever: bool = True) -> float:
    """Returns a lower confidence bound of the mean: wrong at any time with a probability of at most ``level``.

    An upper bound is 1 minus the lower bound of ``1 - scores``.

    Args:
        scores: 0 to 1, shape (t,).
        level: above 0 and below 1.
        weights: as ``log_stakes``.
        ever: whether a refuted bound stays refuted; otherwise only the final e-values count.

    Returns:
        0 to 1; 0 if no bound is refuted.
    """
    needed = -np.log(level)
    tally = _tally(scores, weights)

    def evidence(mean: float) -> float:
        return float(log_evidence(scores, mean, weights).max() if ever else log_wealth(_total(*tally, mean)))

    low, high = 0.0, 1.0
    for _ in range(_STEPS if len(scores) else 0):
        middle = (low + high) / 2
        if evidence(middle) >= needed:  # decreases in the bound, for each player
            low = middle
        else:
            high = middle
    return low


def e_value(log: float) -> float:
    """Returns an e-value, at most ``MOST``, from its logarithm."""
    return float(np.exp(min(log, np.log(MOST))))
