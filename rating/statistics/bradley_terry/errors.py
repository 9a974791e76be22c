"""Standard errors of ratings that hold where results of one deal are alike."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from rating.statistics.bradley_terry.comparisons import Comparisons, totals
from rating.statistics.bradley_terry.model import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryFit,
    covariance_of,
    inverse_curvature,
    probability,
)


def clustered(fitted: BradleyTerryFit, comparisons: Comparisons) -> BradleyTerryFit | None:
    """Returns the fit with standard errors that hold whatever the dependence within a cluster is.

    The sandwich estimator: ``H^-1 (sum over clusters of u u') H^-1`` with ``u`` the gradient of a cluster's log
    likelihood, times ``C / (C - k)`` for C clusters and k parameters. It is too optimistic with few clusters, and about a
    policy that has (nearly) always won or lost.

    Args:
        fitted: fit of the same comparisons.
        comparisons: what was fitted.

    Returns:
        ``None`` if there are not more clusters than parameters.
    """
    options, size = fitted.options, len(fitted.policies)
    x = np.append((fitted.ratings - MEAN_RATING), fitted.seat_advantage) / ELO_PER_NAT
    if options.ties == "drop":
        comparisons = comparisons.select(comparisons.score != 0.5)
    comparisons = comparisons.in_order()
    names, cluster = np.unique(comparisons.cluster, return_inverse=True)
    parameters = size - 1 + options.seat_term
    if len(names) <= parameters:
        return None
    # Results are added up by cluster and cell first, so that sums do not depend on the order of the log.
    keys, group = np.unique((cluster * size + comparisons.first) * size + comparisons.second, return_inverse=True)
    weight = np.ones(len(group)) if comparisons.weight is None else comparisons.weight
    wins, games = np.bincount(group, comparisons.score * weight), np.bincount(group, weight)
    deal, first, second = np.unravel_index(keys, (len(names), size, size))
    residual = wins - games * probability(x[first] - x[second] + x[-1])
    seat_residual = residual if options.seat_term else np.zeros_like(residual)
    gradients = sparse.coo_matrix(
        (
            np.concatenate((residual, -residual, seat_residual)),
            (np.tile(deal, 3), np.concatenate((first, second, np.full_like(first, size)))),
        ),
        shape=(len(names), size + 1),
    ).tocsr()
    meat = (gradients.T @ gradients).toarray() * (len(names) / (len(names) - parameters))
    inverse = inverse_curvature(x, totals(comparisons)[1], options)
    covariance, seat_error = covariance_of(inverse @ meat @ inverse, options)
    return replace(fitted, covariance=covariance, seat_error=seat_error, clusters=len(names))
