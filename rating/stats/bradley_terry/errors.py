"""Standard errors clustered by deal: the jackknife over deals.

The estimator is CR3, the jackknife over deals with one Newton step instead of a new fit (Bell and McCaffrey, Bias reduction in
standard errors for linear regression with multi-stage samples, 2002; MacKinnon, Nielsen and Webb, Fast and reliable jackknife
and bootstrap methods for cluster-robust inference, 2023). With ``H`` the curvature of the posterior, ``W`` the information of a
deal and ``u`` the gradient of its log likelihood, leaving it out moves the parameters by ``-(H - W)^-1 u``. The covariance is
the sum of the squares of these over G deals, times (G - 1) / G, plus the prior's part ``H^-1 P H^-1``.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from rating.stats.bradley_terry.comparisons import Comparisons, in_order, totals, weights
from rating.stats.bradley_terry.model import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryFit,
    covariance_of,
    inverse_curvature,
    precision,
    probability,
)
from rating.stats.estimates import Floats, Integers

_BLOCK = 1 << 21
"""Numbers per temporary array."""


def clustered(fitted: BradleyTerryFit, comparisons: Comparisons) -> BradleyTerryFit:
    """Returns the fit with errors clustered by deal, for Student's t with ``clusters - 1`` degrees of freedom.

    With a single deal the errors are infinite.

    Args:
        fitted: fit of the same comparisons.
        comparisons: the fitted results.
    """
    if fitted.options.ties == "drop":
        comparisons = comparisons.select(comparisons.score != 0.5)
    data, size, seat = in_order(comparisons), len(fitted.policies), fitted.options.seat_term
    x = np.append(fitted.ratings - MEAN_RATING, fitted.seat_advantage) / ELO_PER_NAT
    p = probability(x[data.first] - x[data.second] + x[size])
    weight, cells = weights(data), len(data.score)
    columns = np.column_stack((data.first, data.second, np.full(cells, size))).ravel()
    signs = np.tile([1.0, -1.0, float(seat)], cells)
    rows = sparse.csr_matrix((signs, columns, np.arange(0, 3 * cells + 1, 3)), (cells, size + 1))
    inverse = inverse_curvature(x, totals(comparisons)[1], fitted.options)
    spread, deals = without_each_deal(rows, weight * (data.score - p), weight * p * (1 - p), data.cluster, inverse)
    if deals < 2:
        return replace(fitted, covariance=np.full((size, size), np.inf), seat_error=np.inf, clusters=deals)
    prior = inverse @ np.diag(precision(size, fitted.options)) @ inverse
    covariance, seat_error = covariance_of(spread + prior, fitted.options)
    return replace(fitted, covariance=covariance, seat_error=seat_error, clusters=deals)


def without_each_deal(
    rows: sparse.csr_matrix, residual: Floats, information: Floats, deal: Integers, inverse: Floats
) -> tuple[Floats, int]:
    """Returns the jackknife covariance over deals of k parameters, shape (k, k), and the number of deals.

    The covariance is not meaningful for a single deal.

    Args:
        rows: derivative of the lead of each of m results by each parameter, shape (m, k); sorted by deal.
        residual: weighted difference of the score from the expected one, shape (m,).
        information: weighted variance of the score, shape (m,).
        deal: deal of each result, shape (m,), sorted.
        inverse: inverse curvature of the log posterior, shape (k, k).
    """
    starts = np.flatnonzero(np.r_[True, deal[1:] != deal[:-1]]) if len(deal) else np.zeros(0, dtype=np.int64)
    sizes, width = np.diff(np.r_[starts, len(deal)]), len(inverse)
    adjusted, squares = np.zeros(len(deal)), np.zeros((width, width))
    for size in np.unique(sizes):
        begins = starts[sizes == size]
        each = max(1, _BLOCK // (size * (size + width)))
        for at in range(0, len(begins), each):
            some = begins[at : at + each, None] + np.arange(size)
            design, weight = rows[some.ravel()].toarray().reshape(-1, size, width), information[some][..., None]
            if size > width:  # solve in the parameters, which are fewer than the results
                transposed = np.swapaxes(design, -1, -2)
                left = np.eye(width) - transposed @ (weight * design) @ inverse
                gradient = np.linalg.solve(left, transposed @ residual[some][..., None])[..., 0]
                squares += gradient.T @ gradient
                continue
            reach = (rows[some.ravel()] @ inverse).reshape(design.shape)
            left = np.eye(size) - weight * (reach @ np.swapaxes(design, -1, -2))
            adjusted[some] = np.linalg.solve(left, residual[some][..., None])[..., 0]
    columns, shape = (np.arange(len(deal)), np.r_[starts, len(deal)]), (len(starts), len(deal))
    by_deal = sparse.csr_matrix((adjusted, *columns), shape) @ rows
    squares += (by_deal.T @ by_deal).toarray()
    return (1 - 1 / max(1, len(starts))) * inverse @ squares @ inverse, len(starts)
