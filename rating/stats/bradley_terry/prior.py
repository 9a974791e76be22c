"""Empirical Bayes estimate of the prior width."""

from collections.abc import Callable

import numpy as np

from rating.stats.bradley_terry.comparisons import Floats
from rating.stats.bradley_terry.model import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    BradleyTerryOptions,
)

LEAST_PRIOR_SD = 100.0
GREATEST_PRIOR_SD = 2000.0
_PRIOR_POLICIES = 1.0
"""Weight of the default width, in policies: a pool of two or three is little evidence of its width."""


def best_prior_sd(
    solve: Callable[[BradleyTerryOptions, Floats], tuple[Floats, Floats]],
    options: BradleyTerryOptions,
    start: Floats,
    size: int,
) -> float:
    """Returns the prior width in Elo, for any fitting method.

    The fixed point of MacKay ("Bayesian interpolation", 1992) for the marginal likelihood in Laplace's approximation: the sum
    of squares of the strengths over the number of strengths determined by the data, which is n - 1 minus the part determined by
    the prior.

    Args:
        solve: returns the posterior mode and the inverse curvature, the n strengths in nats first.
        options: options of the fit.
        start: starting point of the first search.
        size: number of policies.
    """
    sd, x = DEFAULT_PRIOR_SD, start
    for _ in range(50):
        x, inverse = solve(options.with_prior(sd), x)
        determined = _determined(inverse, sd, size)
        squares = ELO_PER_NAT**2 * float(x[:size] @ x[:size]) + _PRIOR_POLICIES * DEFAULT_PRIOR_SD**2
        before, sd = sd, float(np.sqrt(squares / (determined + _PRIOR_POLICIES)))
        sd = min(max(sd, LEAST_PRIOR_SD), GREATEST_PRIOR_SD)
        if abs(sd - before) <= 1e-3 * sd:
            break
    return sd


def _determined(inverse: Floats, sd: float, size: int) -> float:
    """Returns the effective number of strengths determined by the data."""
    prior = (ELO_PER_NAT / sd) ** 2
    variances = float(np.trace(inverse[:size, :size])) - 1 / (1 + prior)  # minus the variance of the common shift
    return max(0.0, size - 1 - prior * variances)
