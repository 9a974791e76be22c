"""Style control: ratings with the length and format of answers held equal, as on the leaderboards of Chatbot Arena.

The lead of the first policy is ``x_i - x_j + s + sum of b_k z_k``. The covariate ``z_k`` is the difference of the binary
logarithms of 1 + count between the first and the second (as in the length-controlled AlpacaEval of Dubois et al., arXiv
2404.04475), so one unit is a doubling. The prior of every ``b_k`` is the default prior of ratings.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse

from rating.stats.bradley_terry import MEAN_RATING, Standings
from rating.stats.bradley_terry.comparisons import Comparisons, comparisons_of, totals, weights
from rating.stats.bradley_terry.errors import without_each_deal
from rating.stats.bradley_terry.links import is_connected
from rating.stats.bradley_terry.model import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    BradleyTerryFit,
    BradleyTerryOptions,
    best_prior_sd,
    covariance_of,
    damping,
    no_convergence,
    precision,
    probability,
    to_ratings,
)
from rating.stats.estimates import Estimate, Floats, Rating
from rating.stats.results import Battle
from rating.stats.simultaneous import difference_errors, established_above

_STEPS = 20_000
"""Maximum number of steps: few are usually enough, but very unequal weights or columns can take thousands."""

LENGTH = "length"
FORMAT = ("headers", "lists", "bold")

GROUPS = {LENGTH: (LENGTH,), "format": FORMAT}
"""Groups of counts, by name."""

_MOST = 1e12
"""Greatest count."""

_TOLERANCE = 1e-9
"""Minimum share of a covariate's variation that the policies and other covariates leave unexplained."""


def fit_with_covariates(
    comparisons: Comparisons, covariates: Mapping[str, Floats]
) -> tuple[BradleyTerryFit, dict[str, Estimate]]:
    """Fits ratings and the effects of covariates together, with a fitted prior width and errors clustered by deal.

    Args:
        comparisons: m results of n policies, on two or more deals.
        covariates: difference between the first and the second of each result by name, shape (m,) each, finite.

    Returns:
        The ratings, and the effect of one unit of each covariate in Elo.

    Raises:
        ValueError: if there are fewer than two deals.
        ArithmeticError: if the fit does not converge.
    """
    deals, results = len(np.unique(comparisons.cluster)), len(comparisons.score)
    if deals < 2:
        raise ValueError(f"deals: expected two or more, from which errors are estimated, got {deals}")
    model = _Model(comparisons, np.array(list(covariates.values())).reshape(len(covariates), results).T)
    size, start = model.size, np.zeros(model.size + 1 + len(covariates))
    options = BradleyTerryOptions(prior_sd="fitted", seat_term=comparisons.seated)
    options = options.with_prior(best_prior_sd(model.solve, options, start, size))
    x, inverse = model.solve(options, start)
    covariance = model.clustered(x, inverse, options)
    of_ratings, seat_error = covariance_of(covariance[: size + 1, : size + 1], options)
    fitted = BradleyTerryFit(
        comparisons.policies,
        to_ratings(x[:size]),
        of_ratings,
        float(x[size]) * ELO_PER_NAT,
        seat_error,
        results,
        deals,
        is_connected(*totals(comparisons)),
        False,
        options,
    )
    values, errors = x[size + 1 :] * ELO_PER_NAT, np.sqrt(np.diag(covariance)[size + 1 :]) * ELO_PER_NAT
    effects = {
        name: Estimate(value, value - fitted.reach * error, value + fitted.reach * error, results, deals)
        for name, value, error in zip(covariates, values.tolist(), errors.tolist(), strict=True)
    }
    return fitted, effects


class _Model:
    """Results with columns of the seat and the covariates. Parameters: n strengths, then an effect of each column, in nats."""

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
        self.columns = np.column_stack((np.full(len(values), float(data.seated)), values[order]))

    def solve(self, options: BradleyTerryOptions, start: Floats) -> tuple[Floats, Floats]:
        """Returns the posterior mode by a damped Newton method, and the inverse curvature at the mode."""
        columns, prior, x = self.columns, self._prior(options), start.copy()
        tolerance = 1e-12 * self.weight @ (1 + np.abs(columns).max(axis=1)) + 1e-11
        for _ in range(_STEPS):
            p = probability(self._lead(x))
            residual = self.weight * (self.score - p)
            gradient = np.append(self._per_policy(residual), residual @ columns) - prior * x
            curvature = self._curvature(self.weight * p * (1 - p)) + np.diag(prior)
            converged = np.abs(gradient).max() <= tolerance
            step = np.linalg.solve(curvature, gradient).astype(np.float64)
            change = np.abs(self._lead(step)).max(initial=0.0)
            x = x + step * float(damping(change))
            if converged:
                return x, np.linalg.inv(curvature).astype(np.float64)
        raise no_convergence(gradient)

    def clustered(self, x: Floats, inverse: Floats, options: BradleyTerryOptions) -> Floats:
        """Returns the covariance of the parameters, clustered by deal."""
        count = len(self.score)
        index, signs = np.column_stack((self.first, self.second)).ravel(), np.tile([1.0, -1.0], count)
        pairs = sparse.csr_matrix((signs, index, np.arange(0, 2 * count + 1, 2)), (count, self.size))
        rows = sparse.hstack((pairs, sparse.csr_matrix(self.columns)), format="csr")
        p = probability(self._lead(x))
        residual, information = self.weight * (self.score - p), self.weight * p * (1 - p)
        spread, _ = without_each_deal(rows, residual, information, self.deal, inverse)
        covariance: Floats = spread + inverse @ np.diag(self._prior(options)) @ inverse
        return covariance

    def _prior(self, options: BradleyTerryOptions) -> Floats:
        """Returns the inverse variances of the priors."""
        of_terms = np.full(self.columns.shape[1] - 1, (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2)
        return np.append(precision(self.size, options), of_terms)

    def _lead(self, x: Floats) -> Floats:
        lead: Floats = x[self.first] - x[self.second] + self.columns @ x[self.size :]
        return lead

    def _per_policy(self, values: Floats) -> Floats:
        """Returns the sum of the values of each policy's results as the first minus the sum as the second, shape (n,)."""
        plus, minus = (np.bincount(who, values, minlength=self.size) for who in (self.first, self.second))
        return np.asarray(plus - minus, dtype=np.float64)

    def _curvature(self, information: Floats) -> Floats:
        size, columns = self.size, self.columns
        pairs = np.bincount(self.first * size + self.second, information, minlength=size * size).reshape(size, size)
        both = pairs + pairs.T
        result = np.empty((size + columns.shape[1],) * 2)
        # The data do not determine the common shift; it gets unit curvature.
        result[:size, :size] = 1 / size - both + np.diag(both.sum(axis=1))
        for index, column in enumerate(columns.T, start=size):
            result[:size, index] = result[index, :size] = self._per_policy(information * column)
        result[size:, size:] = columns.T @ (information[:, None] * columns)
        return result


@dataclass(frozen=True)
class StyleRow:
    """A policy.

    Attributes:
        policy: its name.
        best_rank: best possible rank with style held equal, from 1.
        worst_rank: worst possible rank.
        rating: with style held equal; without an interval if wins and losses do not link it with the others.
        plain: its rating without style control, in Elo.
    """

    policy: str
    best_rank: int
    worst_rank: int
    rating: Rating
    plain: float


@dataclass(frozen=True)
class StyleControl:
    """Ratings with style held equal.

    Attributes:
        rows: best first, ties by name.
        effects: effect of a doubling of 1 + count at equal ratings, in Elo, by name of the count.
        alike: counts that are equal on both sides of every result, which have no fitted effect.
        deals: number of deals; errors are clustered by deal.
    """

    rows: tuple[StyleRow, ...]
    effects: Mapping[str, Estimate]
    alike: tuple[str, ...]
    deals: int


def style_control(
    battles: Iterable[Battle], names: Sequence[str], plain: Standings, *, seated: bool = False
) -> StyleControl:
    """Fits ratings with style held equal.

    Args:
        battles: in any order.
        names: counts in the ``style`` of the battles; ``format`` means headers, lists and bold.
        plain: standings of the same battles; ratings are centred on the same policies.
        seated: whether the first of a battle is on the first seat; its advantage is then fitted.

    Raises:
        ValueError: if a battle lacks a count, a count is not a number of 0 or more, both sides are always equal, the policies
            alone determine a covariate, or all battles are of one deal.
    """
    kept = [battle for battle in battles if battle.first != battle.second]
    wanted = _expanded(names)
    columns = {name: _column(kept, name) for name in wanted}
    alike = tuple(name for name, values in columns.items() if not values.any())
    comparisons = comparisons_of(kept, seated=seated)
    if len(alike) == len(wanted):
        raise ValueError(f"style: expected results whose sides differ in {', '.join(wanted)}, got none")
    covariates = {name: values for name, values in columns.items() if name not in alike}
    _check_separable(comparisons, covariates)
    fitted, effects = fit_with_covariates(comparisons, covariates)
    return StyleControl(_rows(fitted, plain), effects, alike, fitted.clusters)


def _expanded(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the requested counts, each once."""
    if isinstance(names, str) or not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"style: expected names such as ('length', 'format'), got {names!r:.80}")
    return tuple(dict.fromkeys(count for name in names for count in GROUPS.get(name, (name,))))


def _column(battles: Sequence[Battle], name: str) -> Floats:
    """Returns the excess of the first side in doublings of 1 + count, shape (m,).

    Raises:
        ValueError: if a battle lacks the count, or it is not a number of 0 or more.
    """
    counts = []
    for battle in battles:
        check_style(battle.style)
        if name in battle.style:
            counts.append(battle.style[name])
    if len(counts) < len(battles):
        others = ", ".join(sorted({other for battle in battles for other in battle.style}))
        raise ValueError(
            f"style: expected {name!r} of both texts in all {len(battles)} results, got it in {len(counts)}; these results have"
            f" {others[:200] or 'no style'}"
        )
    logarithms = np.log2(1 + np.array(counts, dtype=float).reshape(-1, 2))
    column: Floats = logarithms[:, 0] - logarithms[:, 1]
    return column


def check_style(style: object) -> None:
    """Checks the style of a result.

    Raises:
        ValueError: if it does not map names to a number of 0 or more for each side.
    """
    if not isinstance(style, Mapping):
        raise ValueError(f"style: expected counts by name, such as {{'length': (412, 230)}}, got {style!r:.80}")
    for name, pair in style.items():
        if not isinstance(name, str) or not _is_pair(pair):
            raise ValueError(f"style: expected a number of 0 or more for each side of {name!r:.60}, got {pair!r:.80}")


def _is_pair(pair: object) -> bool:
    return isinstance(pair, Sequence) and len(pair) == 2 and all(map(_is_count, pair))


def _is_count(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= _MOST


def _check_separable(comparisons: Comparisons, covariates: Mapping[str, Floats]) -> None:
    """Checks that results of the same policies vary in style.

    Raises:
        ValueError: if policies and other covariates determine a covariate.
    """
    size, rows = len(comparisons.policies), np.arange(len(comparisons.score))
    ones = np.ones(len(rows))
    signs, index = np.concatenate((ones, -ones)), np.concatenate((comparisons.first, comparisons.second))
    pairs = sparse.csr_matrix((signs, (np.tile(rows, 2), index)), (len(rows), size))
    columns = (sparse.csr_matrix(values[:, None]) for values in covariates.values())
    design = sparse.hstack((pairs, *columns), format="csr")
    for place, (name, values) in enumerate(covariates.items(), size):
        before = design[:, :place]
        products = (before.T @ before).toarray()
        left = values - before @ (np.linalg.pinv(products, hermitian=True) @ (before.T @ values))
        if left @ left <= _TOLERANCE * (values @ values):
            raise ValueError(
                f"style: expected results in which {name!r} varies by itself, but"
                f" {', '.join(['who plays', *list(covariates)[: place - size]])} determine it"
            )


def _rows(fitted: BradleyTerryFit, plain: Standings) -> tuple[StyleRow, ...]:
    """Returns the rows, with ratings centred on the anchors of the plain standings."""
    about = {row.policy: row for row in plain.rows}
    size = len(fitted.policies)
    anchors = np.array([about[policy].is_anchor for policy in fitted.policies])
    linked = np.array([about[policy].rating.is_linked for policy in fitted.policies])
    contrasts = np.eye(size) - anchors / anchors.sum()
    ratings = MEAN_RATING + contrasts @ fitted.ratings
    covariance = contrasts @ fitted.covariance @ contrasts.T
    errors = np.sqrt(np.clip(np.diag(covariance), 0, None))
    chosen = np.flatnonzero(linked)
    one, other = (chosen[index] for index in np.triu_indices(len(chosen), 1))
    lead = (ratings[one] - ratings[other]) / difference_errors(covariance, one, other)
    above = established_above(lead, covariance, one, other, degrees=fitted.clusters - 1)
    order = sorted(range(size), key=lambda index: (-round(float(ratings[index]), 6), index))
    return tuple(
        StyleRow(
            fitted.policies[index],
            1 + int(above[:, index].sum()),
            size - int(above[index].sum()),
            Rating(
                float(ratings[index]),
                float(ratings[index] - fitted.reach * errors[index]) if linked[index] else None,
                float(ratings[index] + fitted.reach * errors[index]) if linked[index] else None,
                bool(linked[index]),
            ),
            about[fitted.policies[index]].rating.value,
        )
        for index in order
    )
