"""Standard errors of ratings that hold where results scatter more or less than the model says, or those of a deal are alike."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rating.statistics.bradley_terry import davidson
from rating.statistics.bradley_terry.comparisons import Comparisons, Floats, Integers, exact, totals
from rating.statistics.bradley_terry.fitting import BradleyTerryFit, covariance_of
from rating.statistics.bradley_terry.model import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    inverse_curvature,
    precision,
    probability,
)
from rating.statistics.bradley_terry.prior import width_covariance

_PAIRS_OF_THE_MODEL = 3.0
"""The dispersion is estimated as if so many pairs more had scattered as the model says: a few unanimous results prove little."""


def clustered(fitted: BradleyTerryFit, comparisons: Comparisons) -> BradleyTerryFit | None:
    """Returns the fit with standard errors that hold whatever the dependence within a cluster is.

    The sandwich estimator: ``H^-1 (M + P) H^-1`` with ``H`` the curvature of the posterior, ``P`` the part of it that is the
    prior's, and ``M`` the sum over clusters of ``u u'`` times ``C / (C - k)``, where ``u`` is the gradient of a cluster's log
    likelihood, for C clusters and k parameters. (With independent results that are as the model says ``M + P`` is ``H``.) It is
    too optimistic with few clusters, and about a policy that has (nearly) always won or lost.

    Args:
        fitted: fit of the same comparisons.
        comparisons: what was fitted.

    Returns:
        ``None`` if there are not more clusters than parameters.
    """
    cells = _cells(fitted, comparisons)
    if cells.spare <= 0:
        return None
    size, deal, score = len(fitted.policies), cells.deal, cells.residual
    columns = [(cells.first, score), (cells.second, -score)]
    if fitted.options.seat_term:
        columns.append((np.full_like(deal, size), score))
    if cells.tie_residual is not None:
        columns.append((np.full_like(deal, size + 1), cells.tie_residual))
    index, value = (np.concatenate(part) for part in zip(*columns, strict=True))
    prior = _prior(size, fitted.options)
    gradients = sparse.coo_matrix(
        (value, (np.tile(deal, len(columns)), index)), shape=(cells.deals, len(prior))
    ).tocsr()
    meat = (gradients.T @ gradients).toarray() * (cells.deals / cells.spare)
    inverse = _inverse(fitted, comparisons)
    covariance, seat_error = covariance_of(inverse @ (meat + np.diag(prior)) @ inverse, fitted.options)
    return replace(fitted, covariance=covariance, seat_error=seat_error, clusters=cells.deals)


def dispersion(fitted: BradleyTerryFit, comparisons: Comparisons) -> float | None:
    """Returns by how much results scatter more (alike deals, weights) or less (ties) than the model says.

    The sum of ``u^2`` over the sum of ``p (1 - p)``, times ``C / (C - k)``, where ``u`` is what results of a pair in a deal are
    above their expectation, for C such pairs and k parameters (McCullagh and Nelder, "Generalized linear models", 1989, section
    4.5). At least 1 where every result is a win or a loss and a deal of its own.

    Args:
        fitted: fit of the comparisons, or of more.
        comparisons: results between policies that wins and losses link both ways.

    Returns:
        ``None`` if there are not more pairs in deals than parameters.
    """
    cells, size = _cells(fitted, comparisons), len(fitted.policies)
    low, high = np.minimum(cells.first, cells.second), np.maximum(cells.first, cells.second)
    _, pair = np.unique((cells.deal * size + low) * size + high, return_inverse=True)
    scatter = np.bincount(pair, np.where(cells.first == low, cells.residual, -cells.residual))
    present = len(np.unique(np.concatenate((low, high))))
    spare = len(scatter) - (cells.parameters - size + present)
    predicted = float(cells.variance.sum())
    if spare <= 0 or predicted <= 0:
        return None
    unseen = _PAIRS_OF_THE_MODEL * predicted / len(scatter)
    factor = (float(scatter @ scatter) * len(scatter) / spare + unseen) / (predicted + unseen)
    # A single win or loss cannot scatter less than p (1 - p): what is below 1 is then noise.
    is_single = len(scatter) == len(comparisons.score) and bool(np.all(comparisons.score == np.rint(comparisons.score)))
    return max(1.0, factor) if is_single else factor


def dispersed(fitted: BradleyTerryFit, comparisons: Comparisons, factor: float) -> Floats:
    """Returns the covariance of the ratings with the data's part of it times a factor, in Elo squared, shape (n, n)."""
    inverse = _inverse(fitted, comparisons)
    prior = np.diag(_prior(len(fitted.policies), fitted.options))
    data = np.linalg.inv(inverse) - prior
    return covariance_of(inverse @ (factor * data + prior) @ inverse, fitted.options)[0]


def width_error(fitted: BradleyTerryFit, comparisons: Comparisons) -> Floats:
    """Returns what a fitted width of the prior adds to the covariance of the ratings, in Elo squared, shape (n, n)."""
    sd, size = fitted.options.prior_sd, len(fitted.policies)
    assert isinstance(sd, float)
    added = width_covariance(_parameters(fitted), _inverse(fitted, comparisons), sd, size)
    return ELO_PER_NAT**2 * added


class _Cells(NamedTuple):
    """Results added up by deal and ordered pair, so that sums over them do not depend on the order of the log."""

    deal: Integers
    first: Integers
    second: Integers
    residual: Floats
    variance: Floats
    tie_residual: Floats | None
    deals: int
    parameters: int

    @property
    def spare(self) -> int:
        return self.deals - self.parameters


def _cells(fitted: BradleyTerryFit, comparisons: Comparisons) -> _Cells:
    size, options = len(fitted.policies), fitted.options
    if options.ties == "drop":
        comparisons = comparisons.select(comparisons.score != 0.5)
    names, cluster = np.unique(comparisons.cluster, return_inverse=True)
    keys, group = np.unique((cluster * size + comparisons.first) * size + comparisons.second, return_inverse=True)
    won, weight = exact(comparisons)
    wins = np.bincount(group, won, minlength=len(keys))
    games = np.bincount(group, weight, minlength=len(keys)).astype(np.float64)
    deal, pair = np.divmod(keys, size * size)
    first, second = np.divmod(pair, size)
    x = _parameters(fitted)
    lead = x[first] - x[second] + x[size]
    unknown = size - 1 + options.seat_term
    if fitted.tie_term is None:
        score = probability(lead)
        variance, tie_residual = score * (1 - score), None
    else:
        score, tied = davidson.expected(lead, fitted.tie_term)
        is_tie = np.where(comparisons.score == 0.5, 1.0 if weight is None else weight, 0.0)
        variance, tie_residual = score - tied / 4 - score**2, np.bincount(group, is_tie, len(keys)) - games * tied
        unknown += 1
    return _Cells(deal, first, second, wins - games * score, games * variance, tie_residual, len(names), unknown)


def _parameters(fitted: BradleyTerryFit) -> Floats:
    """Returns strengths, seat advantage and perhaps the tie term in nats."""
    x = np.append(fitted.ratings - MEAN_RATING, fitted.seat_advantage) / ELO_PER_NAT
    return x if fitted.tie_term is None else np.append(x, fitted.tie_term)


def _prior(size: int, options: BradleyTerryOptions) -> Floats:
    prior = precision(size, options)
    return np.append(prior, davidson.TIE_PRECISION) if options.ties == "davidson" else prior


def _inverse(fitted: BradleyTerryFit, comparisons: Comparisons) -> Floats:
    games = totals(comparisons, fitted.options.ties)[1]
    curve = inverse_curvature if fitted.tie_term is None else davidson.inverse_curvature
    return curve(_parameters(fitted), games, fitted.options)
