"""Ratings with covariates held equal: length, format, role.

The lead of the first policy is ``x_i - x_j + s + sum of b_k z_k``, where ``z_k`` is the difference of a covariate between the
first and the second, e.g. of the logarithms of the lengths of two answers (as in the length-controlled AlpacaEval of Dubois et
al., arXiv 2404.04475). The prior of every ``b_k`` is the default prior of ratings, for one unit of ``z_k``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rating.stats.bradley_terry.comparisons import Comparisons, Floats, totals, weights
from rating.stats.bradley_terry.errors import without_each_deal
from rating.stats.bradley_terry.fitting import BradleyTerryFit, covariance_of, to_ratings
from rating.stats.bradley_terry.links import is_connected
from rating.stats.bradley_terry.model import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    BradleyTerryOptions,
    damping,
    no_convergence,
    precision,
    probability,
)
from rating.stats.bradley_terry.prior import best_prior_sd

_STEPS = 20_000
"""Maximum number of steps: few are usually enough, but very unequal weights or columns can take thousands."""


@dataclass(frozen=True, eq=False)
class Term:
    """A covariate that can affect results apart from the policies.

    Attributes:
        name: e.g. ``length``.
        values: difference between the first and the second, shape (m,). For lengths: the difference of their logarithms. For a
            role: 1 if only the first has it, -1 if only the second has it, otherwise 0.
    """

    name: str
    values: Floats


class Effect(NamedTuple):
    """The effect of one unit of a term.

    Attributes:
        name: name of the term.
        value: in Elo.
        error: its standard error, in Elo, clustered by deal.
    """

    name: str
    value: float
    error: float


@dataclass(frozen=True, eq=False)
class TermsFit:
    """Ratings with terms held equal.

    Attributes:
        fitted: the ratings, with errors clustered by deal.
        effects: of the terms, in their order.
    """

    fitted: BradleyTerryFit
    effects: tuple[Effect, ...]


def fit_terms(comparisons: Comparisons, terms: Sequence[Term], options: BradleyTerryOptions | None = None) -> TermsFit:
    """Fits ratings and the effects of terms together.

    Args:
        comparisons: m results of n policies, on two or more deals.
        terms: covariates of the results.
        options: options of the fit, with a prior of the ratings.

    Raises:
        ValueError: if there is no policy, fewer than two deals, a term with a wrong number of values or with values that are
            not finite, or no prior.
        ArithmeticError: if the fit does not converge.
    """
    options = options or BradleyTerryOptions()
    options = options if comparisons.seated else replace(options, seat_term=False)
    _check(comparisons, terms, options)
    values = np.array([term.values for term in terms], dtype=float).reshape(len(terms), len(comparisons.score)).T
    if options.ties == "drop":
        kept = comparisons.score != 0.5
        comparisons, values = comparisons.select(kept), values[kept]
    deals = len(np.unique(comparisons.cluster))
    if deals < 2:
        raise ValueError(f"deals: expected two or more, from which errors are estimated, got {deals}")
    model = _Model(comparisons, values)
    start = np.zeros(model.size + 1 + len(terms))
    if options.prior_sd == "fitted":
        options = options.with_prior(best_prior_sd(model.solve, options, start, model.size))
    x, inverse = model.solve(options, start)
    covariance = model.clustered(x, inverse, options)
    of_ratings, seat_error = covariance_of(covariance[: model.size + 1, : model.size + 1], options)
    fitted = BradleyTerryFit(
        comparisons.policies,
        to_ratings(x[: model.size]),
        of_ratings,
        float(x[model.size]) * ELO_PER_NAT,
        seat_error,
        len(comparisons.score),
        deals,
        is_connected(*totals(comparisons)),
        False,
        options,
    )
    effects, errors = x[model.size + 1 :], np.sqrt(np.diag(covariance)[model.size + 1 :])
    return TermsFit(
        fitted,
        tuple(
            Effect(term.name, float(effect) * ELO_PER_NAT, float(error) * ELO_PER_NAT)
            for term, effect, error in zip(terms, effects, errors, strict=True)
        ),
    )


def _check(comparisons: Comparisons, terms: Sequence[Term], options: BradleyTerryOptions) -> None:
    if not comparisons.policies:
        raise ValueError("comparisons: expected one policy or more, got none")
    if options.prior_sd is None:
        raise ValueError("prior_sd: expected a number or 'fitted' with terms, got None")
    for term in terms:
        if np.shape(term.values) != comparisons.score.shape or not np.all(np.isfinite(term.values)):
            raise ValueError(
                f"term {term.name!r}: expected a finite value for each of {len(comparisons.score)} results, got an array of shape"
                f" {np.shape(term.values)} with {np.sum(~np.isfinite(term.values))} that are not finite"
            )


class _Model:
    """Results and columns; the parameters are n strengths, the seat advantage and the effects, in nats."""

    def __init__(self, comparisons: Comparisons, values: Floats) -> None:
        weight = weights(comparisons)
        # Sums of fractions depend on their order: sort results by content, and deals by their first result.
        keys = (comparisons.cluster, *values.T, weight, comparisons.score, comparisons.second, comparisons.first)
        order = np.lexsort(keys)
        _, start, deal = np.unique(comparisons.cluster[order], return_index=True, return_inverse=True)
        by_deal = np.argsort(start[deal], kind="stable")
        self.deal, order = start[deal][by_deal], order[by_deal]
        data = comparisons.select(order)
        self.size = len(data.policies)
        self.first, self.second, self.score, self.weight = data.first, data.second, data.score, weight[order]
        self.columns = np.column_stack((np.ones(len(values)), values[order]))

    def solve(self, options: BradleyTerryOptions, start: Floats) -> tuple[Floats, Floats]:
        """Returns the posterior mode by a damped Newton method, and the inverse curvature at the mode."""
        columns, prior, x = self._columns(options), self._prior(options), start.copy()
        tolerance = 1e-12 * self.weight @ (1 + np.abs(columns).max(axis=1)) + 1e-11
        for _ in range(_STEPS):
            p = probability(self._lead(x, columns))
            residual = self.weight * (self.score - p)
            gradient = np.append(self._per_policy(residual), residual @ columns) - prior * x
            curvature = self._curvature(self.weight * p * (1 - p), columns) + np.diag(prior)
            converged = np.abs(gradient).max() <= tolerance
            step = np.linalg.solve(curvature, gradient).astype(np.float64)
            change = np.abs(self._lead(step, columns)).max(initial=0.0)
            x = x + step * float(damping(change))
            if converged:
                return x, np.linalg.inv(curvature).astype(np.float64)
        raise no_convergence(gradient)

    def clustered(self, x: Floats, inverse: Floats, options: BradleyTerryOptions) -> Floats:
        """Returns the covariance of the parameters, clustered by deal."""
        columns, count = self._columns(options), len(self.score)
        index, signs = np.column_stack((self.first, self.second)).ravel(), np.tile([1.0, -1.0], count)
        pairs = sparse.csr_matrix((signs, index, np.arange(0, 2 * count + 1, 2)), (count, self.size))
        rows = sparse.hstack((pairs, sparse.csr_matrix(columns)), format="csr")
        p = probability(self._lead(x, columns))
        residual, information = self.weight * (self.score - p), self.weight * p * (1 - p)
        spread, _ = without_each_deal(rows, residual, information, self.deal, inverse)
        covariance: Floats = spread + inverse @ np.diag(self._prior(options)) @ inverse
        return covariance

    def _columns(self, options: BradleyTerryOptions) -> Floats:
        """Returns the columns of the seat and the terms; without a seat term the seat column is 0."""
        return self.columns * np.append(options.seat_term, np.ones(self.columns.shape[1] - 1))

    def _prior(self, options: BradleyTerryOptions) -> Floats:
        """Returns the inverse variances of the priors."""
        of_terms = np.full(self.columns.shape[1] - 1, (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2)
        return np.append(precision(self.size, options), of_terms)

    def _lead(self, x: Floats, columns: Floats) -> Floats:
        lead: Floats = x[self.first] - x[self.second] + columns @ x[self.size :]
        return lead

    def _per_policy(self, values: Floats) -> Floats:
        """Returns the sum of the values of each policy's results as the first minus the sum as the second, shape (n,)."""
        plus, minus = (np.bincount(who, values, minlength=self.size) for who in (self.first, self.second))
        return np.asarray(plus - minus, dtype=np.float64)

    def _curvature(self, information: Floats, columns: Floats) -> Floats:
        size = self.size
        pairs = np.bincount(self.first * size + self.second, information, minlength=size * size).reshape(size, size)
        both = pairs + pairs.T
        result = np.empty((size + columns.shape[1],) * 2)
        # The data do not determine the common shift; it gets unit curvature.
        result[:size, :size] = 1 / size - both + np.diag(both.sum(axis=1))
        for index, column in enumerate(columns.T, start=size):
            result[:size, index] = result[index, :size] = self._per_policy(information * column)
        result[size:, size:] = columns.T @ (information[:, None] * columns)
        return result
