"""Ties as a result of their own (Davidson, "On extending the Bradley-Terry model to accommodate ties", 1970).

With ``d`` the lead of the first, a win, a loss and a tie are as likely as ``exp(d / 2)``, ``exp(-d / 2)`` and ``exp(t)`` to one
another. What is fitted are strengths, seat advantage and ``t``, in this order, shape (n + 2,), all in nats.
"""

import numpy as np

from rating.statistics.bradley_terry.comparisons import Floats
from rating.statistics.bradley_terry.model import (
    BradleyTerryOptions,
    curvature,
    damping,
    differences,
    no_convergence,
    precision,
)

TIE_PRECISION = 0.01
"""Of the prior of ``t``, which matters only if every game is a tie, or none."""


def expected(d: Floats, tie: float) -> tuple[Floats, Floats]:
    """Returns the expected score of the first and the probability of a tie, for leads of any shape."""
    top = np.maximum(np.abs(d) / 2, tie)
    won, lost, tied = np.exp(d / 2 - top), np.exp(-d / 2 - top), np.exp(tie - top)
    total = won + lost + tied
    return (won + tied / 2) / total, tied / total


def maximise(wins: Floats, games: Floats, ties: Floats, options: BradleyTerryOptions, start: Floats) -> Floats:
    """Returns what has the greatest posterior, by a damped Newton method.

    Args:
        wins: as for ``fit_totals``, ties being half a win, shape (n, n).
        games: the same.
        ties: how many, or how much, of the games are ties, shape (n, n).
        options: what is fitted.
        start: where the search begins, shape (n + 2,).
    """
    prior, x = np.append(precision(len(games), options), TIE_PRECISION), start.copy()
    tolerance = 1e-13 * games.sum() + 1e-11
    for _ in range(200):
        score, tied = expected(differences(x[:-1]), x[-1])
        residual = wins - games * score
        gradient = np.concatenate(
            (residual.sum(axis=1) - residual.sum(axis=0), [residual.sum(), (ties - games * tied).sum()])
        )
        gradient -= prior * x
        if not options.seat_term:
            gradient[-2] = 0.0
        step = np.linalg.solve(_curvature(score, tied, games, options), gradient)
        converged = np.abs(gradient).max() <= tolerance
        x += step * damping(np.ptp(step[:-2]) + np.abs(step[-2:]).sum())
        if converged:
            return x
    raise no_convergence(gradient)


def inverse_curvature(x: Floats, games: Floats, options: BradleyTerryOptions) -> Floats:
    """Returns the covariance of what was fitted in Laplace's approximation, shape (n + 2, n + 2)."""
    score, tied = expected(differences(x[:-1]), x[-1])
    return np.linalg.inv(_curvature(score, tied, games, options)).astype(np.float64)


def _curvature(score: Floats, tied: Floats, games: Floats, options: BradleyTerryOptions) -> Floats:
    size = len(games)
    result = np.zeros((size + 2, size + 2))
    # A win counts 1 and a tie 1/2: the variance of the score, and its covariance with being a tie.
    result[:-1, :-1] = curvature(games * (score - tied / 4 - score**2), options)
    both = games * tied * (0.5 - score)
    result[:size, -1] = result[-1, :size] = both.sum(axis=1) - both.sum(axis=0)
    if options.seat_term:
        result[size, -1] = result[-1, size] = both.sum()
    result[-1, -1] = (games * tied * (1 - tied)).sum() + TIE_PRECISION
    return result
