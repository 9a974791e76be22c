"""How well the order of the ratings is known."""

import numpy as np

from rating.statistics.bradley_terry.comparisons import Floats, Integers
from rating.statistics.bradley_terry.fitting import BradleyTerryFit


def expected_order(fitted: BradleyTerryFit, *, draws: int = 200, seed: int = 0) -> float:
    """Returns the expected Spearman correlation of the fitted order with the true one.

    The mean over draws from the posterior (Laplace approximation) of the rank correlation of the drawn ratings with the
    fitted ones: near 1 when the order of the policies is known.

    Args:
        fitted: a fit of two policies or more, not ``clustered``.
        draws: number of draws.
        seed: of the draws.
    """
    size = len(fitted.policies)
    if size < 2:
        raise ValueError(f"expected two policies or more, got {size}")
    values, vectors = np.linalg.eigh(fitted.covariance)
    noise = np.random.default_rng(seed).standard_normal((draws, size))
    drawn = fitted.ratings + (noise * np.sqrt(np.clip(values, 0, None))) @ vectors.T
    distance = _ranks(drawn) - _ranks(fitted.ratings)
    return float(np.mean(1 - 6 * (distance**2).sum(axis=1) / (size * (size**2 - 1))))


def _ranks(values: Floats) -> Integers:
    return np.argsort(np.argsort(values, axis=-1), axis=-1)
