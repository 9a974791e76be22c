"""Uncertainty of the ranking: draws from the posterior of the ratings.

The spread of a pool is unknown and affects the certainty of the ranking. So the standard deviation of the prior is unknown too:
half-Cauchy (Gelman, Prior distributions for variance parameters in hierarchical models, 2006), summed over a grid, each value
with its own fit and its marginal likelihood in Laplace's approximation. The likelihood is divided by the dispersion of the
results (below 1 with ties, above 1 with correlated results of a deal), estimated from the errors clustered by deal. Draws are
Student's t with the degrees of freedom of these errors.

Arrays may have leading axes for independent pools, as in simulations.
"""

import numpy as np
from numpy.typing import NDArray

from rating.stats.bradley_terry.comparisons import Comparisons, totals
from rating.stats.bradley_terry.errors import clustered
from rating.stats.bradley_terry.model import (
    ELO_PER_NAT,
    BradleyTerryFit,
    BradleyTerryOptions,
    curvature,
    differences,
    maximise,
    precision,
    probability,
)
from rating.stats.estimates import Floats, Integers

SPREADS = (1280.0, 640.0, 320.0, 160.0, 80.0, 40.0, 20.0, 10.0)
"""Standard deviations of the prior, in Elo."""

_SPREAD_SCALE = 200.0
"""Prior median of the standard deviation, in Elo."""

_DEALS_OF_THE_MODEL = 3.0
"""Number of additional deals with a dispersion of 1 in the estimate, because a few unanimous results prove little."""


def drawn_ratings(fitted: BradleyTerryFit, comparisons: Comparisons, *, draws: int = 400) -> Floats:
    """Returns draws from the posterior of the ratings, in Elo with mean 0, shape (draws, n).

    Args:
        fitted: fit of the same comparisons, not ``clustered``, of two or more policies.
        comparisons: the fitted results.
        draws: number of draws.
    """
    robust = clustered(fitted, comparisons)
    assert isinstance(fitted.options.prior_sd, float)
    deals = np.array(robust.clusters)
    factor = dispersion(fitted.covariance, robust.covariance, fitted.options.prior_sd, deals)
    return draw(*totals(comparisons), factor, deals, draws=draws, seat_term=fitted.options.seat_term)


def dispersion(model: Floats, robust: Floats, prior_sd: float, deals: Floats | Integers) -> Floats:
    """Returns the dispersion of the results relative to the model; infinite for a single deal.

    It is the mean ratio of the robust to the model variances, both without the prior's part. Leaving out deals inflates errors
    by about the number of parameters per deal, which is corrected.

    Args:
        model: covariance of the ratings by the model, in Elo squared, shape (..., n, n).
        robust: the same clustered by deal.
        prior_sd: prior width of the fit, in Elo.
        deals: number of deals, shape (...).
    """
    axes = _contrasts(model.shape[-1])
    model = axes.T @ model @ axes
    prior = np.trace(model, axis1=-2, axis2=-1) / prior_sd**2
    determined = np.maximum(len(axes) - 1 - prior, 1e-9)
    several = deals > 1
    robust = np.where(several[..., None, None], axes.T @ np.nan_to_num(robust, posinf=0.0) @ axes, model)
    ratio = (np.trace(np.linalg.solve(model, robust), axis1=-2, axis2=-1) - prior) / determined
    ratio = np.maximum(ratio * np.maximum(1 - determined / np.maximum(deals, 1), 0.1), 0.0)
    factor: Floats = (ratio * deals + _DEALS_OF_THE_MODEL) / (deals + _DEALS_OF_THE_MODEL)
    return np.where(several, factor, np.inf)


def draw(
    wins: Floats,
    games: Floats,
    factor: Floats,
    deals: Floats | Integers,
    *,
    draws: int = 400,
    seat_term: bool = True,
) -> Floats:
    """Returns draws from the posterior of the ratings, in Elo with mean 0, shape (..., draws, n).

    Args:
        wins: sum of the scores of the row policy on the earlier seat against the column policy, shape (..., n, n).
        games: number of these games, shape (..., n, n).
        factor: dispersion of the results, shape (...).
        deals: number of deals, shape (...).
        draws: number of draws.
        seat_term: whether the earlier seat may have an advantage.
    """
    size, axes = wins.shape[-1], _contrasts(wins.shape[-1])
    wins, games = wins / factor[..., None, None], games / factor[..., None, None]
    x = np.zeros((*wins.shape[:-2], size + 1))
    modes, roots, evidence = [], [], []
    for spread in SPREADS:
        options = BradleyTerryOptions(prior_sd=spread, seat_term=seat_term)
        x = maximise(wins, games, options, x)
        lead = differences(x)
        p = probability(lead)
        curved, prior = curvature(games * p * (1 - p), options), precision(size, options)
        likelihood = (wins * lead - games * np.logaddexp(0, lead)).sum(axis=(-2, -1)) - 0.5 * (prior * x**2).sum(
            axis=-1
        )
        volume = (size - 1) * np.log(prior[0]) + np.log1p(prior[0]) - np.linalg.slogdet(curved)[1]
        evidence.append(likelihood + 0.5 * volume + np.log(spread) - np.log1p((spread / _SPREAD_SCALE) ** 2))
        modes.append(x[..., :-1] @ axes)
        roots.append(np.linalg.cholesky(axes.T @ np.linalg.inv(curved)[..., :-1, :-1] @ axes))
    weight = np.exp(np.array(evidence) - np.max(evidence, axis=0))
    below = np.cumsum(weight / weight.sum(axis=0), axis=0)[:-1, ..., None]
    chosen = (below < (np.arange(draws) + 0.5) / draws).sum(axis=0)  # draws of each spread in proportion to its weight
    rng = np.random.default_rng(0)
    noise, degrees = rng.standard_normal((draws, size - 1)), np.maximum(deals - 1, 1)[..., None]
    noise = noise * np.sqrt(degrees / (2 * rng.standard_gamma(degrees / 2, size=chosen.shape)))[..., None]
    drawn = np.zeros_like(noise)
    for index, (mode, root) in enumerate(zip(modes, roots, strict=True)):
        drawn += (chosen == index)[..., None] * (mode[..., None, :] + noise @ np.swapaxes(root, -1, -2))
    return ELO_PER_NAT * (drawn @ axes.T)


def expected_spearman(ratings: Floats, drawn: Floats) -> Floats:
    """Returns the expected rank correlation of the rating order with the true order, shape (...).

    Args:
        ratings: shape (..., n), of two or more policies.
        drawn: draws from their posterior, shape (..., draws, n).
    """
    size = ratings.shape[-1]
    distance = _ranks(drawn) - _ranks(ratings)[..., None, :]
    expected: Floats = np.mean(1 - 6 * (distance**2).sum(axis=-1) / (size * (size**2 - 1)), axis=-1)
    return expected


def set_is_known(ratings: Floats, drawn: Floats, count: int) -> Floats:
    """Returns the probability that the policies with the highest ratings are the best, in any order, shape (...).

    Args:
        ratings: shape (..., n).
        drawn: draws from their posterior, shape (..., draws, n).
        count: number of the best, less than n.
    """
    inside = (_ranks(ratings) >= ratings.shape[-1] - count)[..., None, :]
    least = np.where(inside, drawn, np.inf).min(axis=-1)
    known: Floats = np.mean(least > np.where(inside, -np.inf, drawn).max(axis=-1), axis=-1)
    return known


def is_open(ratings: Floats, drawn: Floats, pairs: Integers) -> NDArray[np.bool_]:
    """Returns the unresolved pairs: their order is wrong with a probability above 2.5 %, shape (..., m).

    Args:
        ratings: shape (..., n).
        drawn: draws from their posterior, shape (..., draws, n).
        pairs: indices of both policies, shape (2, m).
    """
    ranks = _ranks(ratings)
    is_behind = ranks[..., pairs[0]] < ranks[..., pairs[1]]
    wrong = np.mean((drawn[..., pairs[0]] > drawn[..., pairs[1]]) == is_behind[..., None, :], axis=-2)
    found: NDArray[np.bool_] = wrong > 0.025
    return found


def share_alike(ratings: Floats, drawn: Floats, pairs: Integers, band: float) -> Floats:
    """Returns the probability that an unresolved pair differs by less than a band, averaged over such pairs, shape (...).

    It is 0 if all pairs are resolved.

    Args:
        ratings: shape (..., n).
        drawn: draws from their posterior, shape (..., draws, n).
        pairs: indices of both policies, shape (2, m).
        band: in Elo.
    """
    found = is_open(ratings, drawn, pairs)
    near = np.mean(np.abs(drawn[..., pairs[0]] - drawn[..., pairs[1]]) < band, axis=-2)
    count = found.sum(axis=-1)
    share: Floats = np.where(count, (near * found).sum(axis=-1) / np.maximum(count, 1), 0.0)
    return share


def _contrasts(size: int) -> Floats:
    """Returns orthonormal columns that span all differences of n strengths, shape (n, n - 1)."""
    spanned = np.concatenate((np.ones((size, 1)), np.eye(size)[:, :-1]), axis=1)
    return np.linalg.qr(spanned)[0][:, 1:].astype(np.float64)


def _ranks(values: Floats) -> Integers:
    return np.argsort(np.argsort(values, axis=-1, kind="stable"), axis=-1)
