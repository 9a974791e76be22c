"""Whether results of pairs are further from Bradley-Terry than chance and deals explain.

Bradley-Terry puts all policies on one scale. Where who wins depends on who meets whom, as in rock, paper, scissors, the results
of pairs scatter around what the scale says by more than chance, and an order of the policies says less than it seems to.

The test: ``T = sum over pairs of R^2 / (V + 1/2)``, where ``R`` is the sum of the residuals of a pair (score less expected
score) and ``V`` its variance under the model; the half keeps pairs in which nobody expects a surprise from deciding alone. What
the ratings, the seat advantage and the shape of the curve can explain is projected out of ``R``, so that a pool is not flagged
for many ties, which flatten the curve. T is compared with what it is when the residuals of whole deals change sign at random
(the wild bootstrap of scores: Wu 1986; by cluster: Cameron, Gelbach and Miller 2008), so that neither ties nor alike deals need
a model of their own. The factor ``N / (N - k)``, for N deals of pairs and k parameters, restores what the fit took out of the
residuals.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit

from rating.statistics.bradley_terry import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    Comparisons,
    Floats,
    Integers,
    fit,
    totals,
)
from rating.statistics.bradley_terry.links import links_of

_LEAST_FOR_SHAPE = 5
"""Policies from which on the shape of the curve is told from cycles; fewer leave too few pairs for both."""

_ROUNDING = 1e-9
"""T of results that the scale explains exactly, as where every first seat wins, is above 0 by errors of rounding."""

_CHUNK = 4_000_000
"""Numbers drawn at once."""

_MOST, _LEAST_DRAWS = 20_000_000, 199
"""Numbers drawn in all, but for so many draws at least."""


@dataclass(frozen=True)
class LackOfFit:
    """What the test found.

    Attributes:
        p_value: probability of results this far from Bradley-Terry, or further, if it holds.
        statistic: T.
        expected: mean of T if it holds.
        scatter: estimate of the standard deviation of how far pairs are from the scale, in Elo; 0 where chance explains all.
        dispersion: variance of sums of residuals over that of the model: below 1 with ties, above 1 where deals are alike.
        policies: those tested: the largest group of which each has beaten or tied every other through a chain.
    """

    p_value: float
    statistic: float
    expected: float
    scatter: float
    dispersion: float
    policies: tuple[str, ...]


def lack_of_fit(comparisons: Comparisons, *, draws: int = 999, seed: int = 0) -> LackOfFit | None:
    """Tests whether one scale explains the results of pairs.

    Args:
        comparisons: any.
        draws: number of times that signs are drawn; fewer, down to 199, where the log is very large.
        seed: of the signs.

    Returns:
        ``None`` where nothing can be tested: fewer than three policies that are linked by wins and losses, no more pairs than
        parameters, or too few results.
    """
    core = _largest_group(comparisons) if len(comparisons.policies) > 2 else comparisons
    if len(core.policies) < 3:
        return None
    scores = _scores(_sorted(core))
    pairs, parameters = len(scores.variance), scores.parameters
    if pairs <= parameters or scores.deals <= parameters:
        return None
    observed = float(scores.statistic(scores.units @ scores.counts[:, None])[0])
    rng = np.random.default_rng(seed)
    draws = min(draws, max(_LEAST_DRAWS, _MOST // len(scores.counts)))
    chunk = max(1, _CHUNK // max(scores.units.shape))
    drawn = np.concatenate(
        [
            scores.statistic(scores.units @ _signs(scores.counts, min(chunk, draws - begin), rng))
            for begin in range(0, draws, chunk)
        ]
    )
    drawn *= scores.deals / (scores.deals - parameters)
    expected = float(drawn.mean())
    reached = int(np.count_nonzero(drawn >= observed * (1 - 1e-9) - _ROUNDING))
    free, share = pairs / (pairs - parameters), scores.variance / (scores.variance + 0.5)
    scatter = np.sqrt(free * max(0.0, observed - expected) / np.sum(scores.variance * share)) * ELO_PER_NAT
    dispersion = free * expected / np.sum(share)
    return LackOfFit((1 + reached) / (1 + draws), observed, expected, float(scatter), float(dispersion), core.policies)


def _largest_group(comparisons: Comparisons) -> Comparisons:
    """Returns the results among the policies that are linked by wins and losses."""
    members = links_of(*totals(comparisons)).linked
    chosen = comparisons.select(members[comparisons.first] & members[comparisons.second])
    index_of = np.cumsum(members) - 1
    return replace(
        chosen,
        policies=tuple(itertools.compress(comparisons.policies, members)),
        first=index_of[chosen.first],
        second=index_of[chosen.second],
    )


def _sorted(comparisons: Comparisons) -> Comparisons:
    """Returns the results in an order of their own, so that rounding does not depend on that of the log."""
    weight = np.ones(len(comparisons.score)) if comparisons.weight is None else comparisons.weight
    keys = (comparisons.cluster, weight, comparisons.score, comparisons.second, comparisons.first)
    return comparisons.select(np.lexsort(keys))


@dataclass(frozen=True, eq=False)
class _Scores:
    """Residuals of q pairs and of the seats, by deal.

    Attributes:
        units: different sums of a deal's residuals, shape (q + 1, u); those of the first seat come last.
        counts: how many deals have each, shape (u,).
        variance: of the residuals of each pair under the model, shape (q,).
        deals: number of sums of a deal and a pair.
        explained: what k parameters change, shape (q + 1, k).
        solution: parameters that explain the residuals best, by residuals, shape (k, q + 1).
        parameters: number of those that the pairs can tell.
    """

    units: sparse.csr_matrix
    counts: Integers
    variance: Floats
    deals: int
    explained: Floats
    solution: Floats
    parameters: int

    def statistic(self, sums: Floats) -> Floats:
        """Returns T of sums of residuals, shape (q + 1, b), as shape (b,)."""
        left = (sums - self.explained @ (self.solution @ sums))[:-1]
        return np.sum(left**2 / (self.variance + 0.5)[:, None], axis=0)


def _scores(core: Comparisons) -> _Scores:
    size = len(core.policies)
    fitted = fit(core, BradleyTerryOptions(prior_sd=None))
    x = (fitted.ratings - MEAN_RATING) / ELO_PER_NAT
    weight = np.ones(len(core.score)) if core.weight is None else core.weight
    expected = expit(x[core.first] - x[core.second] + fitted.seat_advantage / ELO_PER_NAT)
    residual, variance = weight * (core.score - expected), weight * expected * (1 - expected)
    low, high = np.minimum(core.first, core.second), np.maximum(core.first, core.second)
    sign = np.where(core.first == low, 1.0, -1.0)
    cells, pair = np.unique(low * size + high, return_inverse=True)
    low, high = np.divmod(cells, size)
    pairs = len(cells)
    # Of each pair: the variance, and how much more of it the lower name had on the first seat.
    spread, seats = _sums(pair, variance), _sums(pair, variance * sign)

    lead = x[low] - x[high]
    shape = lead * np.abs(lead) * (size >= _LEAST_FOR_SHAPE)
    design = np.zeros((pairs, size + 2))
    design[np.arange(pairs), low], design[np.arange(pairs), high] = 1.0, -1.0
    design[:, size + 1] = shape
    gradient = np.vstack((design, np.zeros(size + 2)))
    gradient[-1, size] = core.seated
    explained = np.vstack((design * spread[:, None], seats @ design))
    explained[:, size] = core.seated * np.append(seats, variance.sum())
    curvature = gradient.T @ explained
    told = np.linalg.matrix_rank(curvature, tol=1e-9 * max(1.0, float(np.abs(curvature).max())), hermitian=True)
    units, counts, deals = _units(core.cluster, pair, sign * residual, residual, pairs)
    return _Scores(
        units,
        counts,
        spread,
        deals,
        explained,
        np.linalg.pinv(curvature, rcond=1e-9, hermitian=True) @ gradient.T,
        int(told) - core.seated,
    )


def _units(
    cluster: Integers, pair: Integers, of_pair: Floats, of_seat: Floats, pairs: int
) -> tuple[sparse.csr_matrix, Integers, int]:
    """Returns the sums of residuals by deal, equal ones once with their number, and the number of deals of pairs."""
    keys, entry = np.unique(cluster * pairs + pair, return_inverse=True)
    # Rounded, so that what is equal but for the order of a sum is equal.
    of_pair, of_seat = (np.round(_sums(entry, part), 12) for part in (of_pair, of_seat))
    deal, pair = np.divmod(keys, pairs)
    _, deal, width = np.unique(deal, return_inverse=True, return_counts=True)
    alone = width[deal] == 1
    kinds, first, counts = _equal(pair[alone], of_pair[alone], of_seat[alone])
    _, column = np.unique(deal[~alone], return_inverse=True)
    together = int(column.max(initial=-1)) + 1
    rows = np.concatenate((pair[alone][first], pair[~alone]))
    columns = np.concatenate((np.arange(kinds), kinds + column))
    values = np.concatenate((of_pair[alone][first], of_pair[~alone]))
    seat = np.concatenate((of_seat[alone][first], of_seat[~alone]))
    units = sparse.coo_matrix(
        (np.concatenate((values, seat)), (np.concatenate((rows, np.full(len(rows), pairs))), np.tile(columns, 2))),
        (pairs + 1, kinds + together),
    )
    return units.tocsr(), np.concatenate((counts, np.ones(together, dtype=np.int64))), len(keys)


def _equal(pair: Integers, *values: Floats) -> tuple[int, Integers, Integers]:
    """Returns the number of different rows, and of each the index of the first and how often it is there."""
    key = pair
    for part in values:
        kinds, index = np.unique(part, return_inverse=True)
        _, key = np.unique(key * max(1, len(kinds)) + index, return_inverse=True)
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return len(first), first, counts


def _signs(counts: Integers, draws: int, rng: np.random.Generator) -> Floats:
    """Returns sums of so many random signs, shape (u, draws)."""
    positive = rng.binomial(counts[:, None], 0.5, (len(counts), draws)).astype(np.float64)
    return 2 * positive - counts[:, None]


def _sums(index: Integers, values: Floats) -> Floats:
    """Returns the sum of the values of each index."""
    return np.bincount(index, values).astype(np.float64)
