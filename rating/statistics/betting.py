"""Betting on scores: evidence against a bound on their mean that holds whenever one stops.

Against the null hypothesis "every next score is expected to be at most m" a player with wealth 1 bets on each score x, 0 to
1, before it is seen: a stake of f, a share of the wealth, makes it ``1 + f (x / m - 1)`` times what it was. Under the null
hypothesis no sequence of such bets is expected to gain, so the wealth, the *e-value*, ever reaches 1 / level with a
probability of at most ``level``, however often one looks and for whatever reason one stops (Ville 1939). Here a dozen players
bet a fixed share each, from careful to bold, and the e-value is what they have together: none of them has to know how
large the difference is, the best of them soon has nearly all, and the order of the scores makes no difference to the sum in
the end.

The bounds m that the scores have refuted are those below a number that can only rise: a confidence sequence, which covers the
mean at all times at once with probability 1 - level.

Nothing is assumed of the scores but their range: they may be fractions, skewed, of any variance, and may depend on those
before them.

Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (arXiv 2010.09686, section 4); a mixture
of bets is a test martingale as each of them is.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BETS: Floats = np.geomspace(0.01, 0.98, 12)
"""Shares of their wealth that the players bet. Small ones find small differences; below 1 nobody is ruined by a single score."""

CAPITAL: Floats = np.sqrt(BETS) / np.sqrt(BETS).sum()
"""What each player begins with, 1 together; the bold ones more, who decide soon where the difference is large."""

MOST = 1e300
"""The largest e-value that is told."""

_STEPS = 20
"""Halvings of the range of a bound, which make it exact to a millionth."""


def log_stakes(scores: Floats, mean: float, weights: Floats | None = None) -> Floats:
    """Returns by what each score multiplies the wealth of each player, as logarithms.

    A score of weight w is bet on with w times the stake. What is tested then is the weighted mean.

    Args:
        scores: 0 to 1, shape (..., t).
        mean: the bound that is bet against, above 0 and below 1.
        weights: above 0 and at most 1, shape (..., t); all 1 if left out. They must be known before the scores.

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


def log_wealth(logs: Floats) -> Floats:
    """Returns the logarithm of what all players have.

    Args:
        logs: by what the wealth of each has multiplied, as logarithms, shape (..., number of players).
    """
    most = logs.max(axis=-1, keepdims=True)
    wealth: Floats = np.log(np.exp(logs - most) @ CAPITAL) + most[..., 0]
    return wealth


def lower_bound(scores: Floats, level: float, weights: Floats | None = None, *, ever: bool = True) -> float:
    """Returns the bound below which the mean is not: wrong at any time with a probability of at most ``level``.

    An upper bound is 1 less the lower bound of ``1 - scores``.

    Args:
        scores: 0 to 1, shape (t,).
        level: above 0 and below 1.
        weights: as ``log_stakes``.
        ever: whether bounds that were refuted once stay so; otherwise the e-values after the last score alone count.

    Returns:
        0 to 1; 0 if nothing is known.
    """
    needed = -np.log(level)
    low, high = 0.0, 1.0
    for _ in range(_STEPS if len(scores) else 0):
        middle = (low + high) / 2
        evidence = log_evidence(scores, middle, weights)
        if (evidence.max() if ever else evidence[-1]) >= needed:  # falls with the bound, for each of the players
            low = middle
        else:
            high = middle
    return low


def e_value(log: float) -> float:
    """Returns an e-value, at most ``MOST``, from its logarithm."""
    return float(np.exp(min(log, np.log(MOST))))
