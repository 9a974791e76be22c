"""Transitivity test: whether one ranking explains all results, the cycles if not, and the Nash average.

Bradley-Terry puts all policies on one scale. If results are intransitive, as in rock, paper, scissors, they scatter around the
scale by more than chance, and a ranking is less meaningful than it seems.

The test: ``T = sum over pairs of R^2 / (V + 1/2)``, where ``R`` is the sum of the residuals of a pair (score minus expected
score) and ``V`` its variance under the model; the half limits the influence of pairs with near-certain results. The part of
``R`` explained by the ratings, the seat advantage and the shape of the curve is projected out, so a pool is not flagged for
many ties, which flatten the curve. The null distribution of T comes from random sign flips of the residuals of whole deals (the
wild bootstrap of scores: Wu 1986; by cluster: Cameron, Gelbach and Miller 2008), so ties and correlated deals need no model.
The factor ``N / (N - k)``, for N deals of pairs and k parameters, restores the variance of the residuals removed by the fit.

Cycles and the Nash average use the advantage of one policy over another: the rating difference plus a correction from the
results of the pair. The correction is shrunk by a normal prior with a width estimated from all pairs, so pairs with few games do
not create cycles.
"""

import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from rating.stats.bradley_terry import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    Comparisons,
    Floats,
    Integers,
    fit,
    standings,
    totals,
)
from rating.stats.bradley_terry.comparisons import in_order, weights
from rating.stats.bradley_terry.links import links_of
from rating.stats.nash import nash_average

_LEAST_FOR_SHAPE = 5
"""Minimum number of policies to separate the shape of the curve from cycles; fewer have too few pairs for both."""

_ROUNDING = 1e-9
"""Tolerance for rounding: T is slightly above 0 for results that the scale explains exactly, e.g. if every first seat wins."""

_CHUNK = 4_000_000
"""Numbers drawn per batch."""

_MOST, _LEAST_DRAWS = 20_000_000, 199
"""Maximum of numbers drawn in total, and minimum of draws, which takes precedence."""

LEVEL = 0.01
"""Significance level; small, because every leaderboard is tested."""

_WEAK = 0.05
"""Largest p-value for reporting a weak sign."""

_CYCLES = 3
"""Maximum number of reported cycles."""


@dataclass(frozen=True)
class LackOfFit:
    """Result of the test.

    Attributes:
        p_value: probability, under Bradley-Terry, of results at least this far from it.
        statistic: T.
        expected: mean of T under Bradley-Terry.
        scatter: estimated standard deviation of pairs around the scale, in Elo; 0 if chance explains everything.
        dispersion: variance of sums of residuals relative to the model: below 1 with ties, above 1 with correlated deals.
        policies: tested policies: the largest group linked by wins and ties in both directions, directly or through a chain.
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
        draws: number of sign draws; fewer, but at least 199, for a very large log.
        seed: seed of the signs.

    Returns:
        ``None`` if no test is possible: fewer than three policies linked by wins and losses, no more pairs than parameters, or
        too few results.
    """
    core = _largest_group(comparisons) if len(comparisons.policies) > 2 else comparisons
    if len(core.policies) < 3:
        return None
    scores = _scores(in_order(core))
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
    """Returns the results among the policies linked by wins and losses."""
    members = links_of(*totals(comparisons)).linked
    chosen = comparisons.select(members[comparisons.first] & members[comparisons.second])
    index_of = np.cumsum(members) - 1
    return replace(
        chosen,
        policies=tuple(itertools.compress(comparisons.policies, members)),
        first=index_of[chosen.first],
        second=index_of[chosen.second],
    )


@dataclass(frozen=True, eq=False)
class _Scores:
    """Residuals of q pairs and of the first seat, by deal.

    Attributes:
        units: distinct residual sums of deals, shape (q + 1, u); the last row is for the first seat.
        counts: number of deals with each, shape (u,).
        variance: variance of the residuals of each pair under the model, shape (q,).
        deals: number of combinations of a deal and a pair.
        explained: changes of the sums by k parameters, shape (q + 1, k).
        solution: maps residuals to the parameters that explain them best, shape (k, q + 1).
        parameters: number of parameters identified by the pairs.
    """

    units: sparse.csr_matrix
    counts: Integers
    variance: Floats
    deals: int
    explained: Floats
    solution: Floats
    parameters: int

    def statistic(self, sums: Floats) -> Floats:
        """Returns T, shape (b,), for sums of residuals, shape (q + 1, b)."""
        left = (sums - self.explained @ (self.solution @ sums))[:-1]
        return np.sum(left**2 / (self.variance + 0.5)[:, None], axis=0)


def _scores(core: Comparisons) -> _Scores:
    size = len(core.policies)
    fitted = fit(core, BradleyTerryOptions(prior_sd=None))
    x = (fitted.ratings - MEAN_RATING) / ELO_PER_NAT
    weight = weights(core)
    expected = expit(x[core.first] - x[core.second] + fitted.seat_advantage / ELO_PER_NAT)
    residual, variance = weight * (core.score - expected), weight * expected * (1 - expected)
    low, high = np.minimum(core.first, core.second), np.maximum(core.first, core.second)
    sign = np.where(core.first == low, 1.0, -1.0)
    cells, pair = np.unique(low * size + high, return_inverse=True)
    low, high = np.divmod(cells, size)
    pairs = len(cells)
    # Per pair: the variance, and how much of it has the lower name on the first seat minus the rest.
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
    """Returns the distinct residual sums by deal, their counts, and the number of combinations of a deal and a pair."""
    keys, entry = np.unique(cluster * pairs + pair, return_inverse=True)
    # Rounded: sums that differ only in the order of the terms become equal.
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
    """Returns the number of distinct rows, with the index of the first and the count of each."""
    key = pair
    for part in values:
        kinds, index = np.unique(part, return_inverse=True)
        _, key = np.unique(key * max(1, len(kinds)) + index, return_inverse=True)
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return len(first), first, counts


def _signs(counts: Integers, draws: int, rng: np.random.Generator) -> Floats:
    """Returns sums of ``counts`` random signs, shape (u, draws)."""
    positive = rng.binomial(counts[:, None], 0.5, (len(counts), draws)).astype(np.float64)
    return 2 * positive - counts[:, None]


def _sums(index: Integers, values: Floats) -> Floats:
    """Returns the sum of the values of each index."""
    return np.bincount(index, values).astype(np.float64)


class Beat(NamedTuple):
    """Score of one policy against another."""

    winner: str
    loser: str
    score: float
    games: float


@dataclass(frozen=True)
class NashRow:
    """A policy in the Nash average.

    Attributes:
        policy: its name.
        weight: its share in the equilibrium mix, 0 to 1.
        skill: its advantage over this mix, in Elo, at most 0.
        rating: its Bradley-Terry rating, in Elo, as in ``standings``.
    """

    policy: str
    weight: float
    skill: float
    rating: float


@dataclass(frozen=True)
class Diagnosis:
    """Result of the transitivity test.

    Attributes:
        fit: the goodness-of-fit test of one scale.
        flagged: whether results of pairs deviate from one scale by more than chance and deals explain.
        cycles: cycles of three policies, the best established one first; empty unless flagged.
        nash: best first, ties by rating and name.
    """

    fit: LackOfFit
    flagged: bool
    cycles: tuple[tuple[Beat, ...], ...]
    nash: tuple[NashRow, ...]

    def notes(self) -> list[str]:
        """Returns the findings as sentences."""
        chance = f"p = {self.fit.p_value:.3f}, {len(self.fit.policies)} policies"
        if not self.flagged and self.fit.p_value <= _WEAK:
            return [
                f"a sign that who wins depends on who meets whom, but too weak a one ({chance}; {LEVEL:g} would do, as every"
                " leaderboard is tested)"
            ]
        if not self.flagged:
            return [f"no sign that who wins depends on who meets whom ({chance}); few games would not show it"]
        cycles = ["cycle: " + ", ".join(map(_in_words, cycle)) for cycle in self.cycles]
        return [
            f"results of pairs are further from one scale than chance and deals explain ({chance}, by {self.fit.scatter:.0f} "
            "Elo a pair): who wins depends on who meets whom, and ratings on who is in the pool",
            *(cycles or ["no three policies of it beat each other in a circle"]),
        ]


def diagnose(comparisons: Comparisons) -> Diagnosis | None:
    """Tests whether one ranking explains the results.

    Args:
        comparisons: any.

    Returns:
        ``None`` if no test is possible (``lack_of_fit``).
    """
    tested = lack_of_fit(comparisons)
    if tested is None:
        return None
    advantage, precision, ratings = _advantages(comparisons, tested)
    average = nash_average(advantage)
    rows = [
        NashRow(policy, float(weight), float(skill), float(rating))
        for policy, weight, skill, rating in zip(comparisons.policies, *average, ratings, strict=True)
    ]
    flagged = tested.p_value <= LEVEL
    return Diagnosis(
        tested,
        flagged,
        _cycles(comparisons, advantage * np.sqrt(precision)) if flagged else (),
        tuple(sorted(rows, key=lambda row: (-round(row.skill, 6), -round(row.rating, 6), row.policy))),
    )


def against_one_scale(comparisons: Comparisons) -> list[str]:
    """Returns warnings for a leaderboard if one ranking does not explain the results; empty otherwise."""
    tested = lack_of_fit(comparisons)
    if tested is None or tested.p_value > LEVEL:
        return []  # the usual case; the diagnosis takes longer than the test
    found = diagnose(comparisons)
    return found.notes() if found is not None else []


def _advantages(comparisons: Comparisons, tested: LackOfFit) -> tuple[Floats, Floats, Floats]:
    """Returns the advantage of the row over the column policy in Elo and its precision, shape (n, n) each, and the ratings."""
    fitted = standings(comparisons).fitted
    x, seat = (fitted.ratings - MEAN_RATING) / ELO_PER_NAT, fitted.seat_advantage / ELO_PER_NAT
    lead = x[:, None] - x
    wins, games = totals(comparisons)
    score, most = wins + (games - wins).T, games + games.T
    # If chance explains everything, the correction is 0.
    dispersion = max(tested.dispersion, 1e-9)
    prior = dispersion * (ELO_PER_NAT / max(tested.scatter, 1e-3)) ** 2
    low, high = -most / prior, most / prior
    for _ in range(100):
        added = (low + high) / 2
        expected = games * expit(lead + seat + added) + games.T * expit(lead - seat + added)
        above = score - expected > prior * added
        low, high = np.where(above, added, low), np.where(above, high, added)
    added = (low + high) / 2
    added = (added - added.T) / 2
    rate = expit(lead + added)
    precision = (most * rate * (1 - rate) + prior) / dispersion
    return (lead + added) * ELO_PER_NAT, precision, fitted.ratings


def _cycles(comparisons: Comparisons, evidence: Floats) -> tuple[tuple[Beat, ...], ...]:
    """Returns the cycles with the best established weakest link; ``evidence`` is the advantage in standard deviations."""
    names, size = comparisons.policies, len(comparisons.policies)
    wins, games = totals(comparisons)
    score, most = wins + (games - wins).T, games + games.T
    links = np.where(score > most / 2, evidence, 0.0)
    found: list[tuple[float, tuple[int, int, int]]] = []
    for a in range(size):
        weakest = np.minimum(np.minimum(links[a][:, None], links), links[:, a])
        weakest[: a + 1] = weakest[:, : a + 1] = 0.0  # each cycle once, from its first name
        best = np.argsort(-weakest, axis=None, kind="stable")[:_CYCLES]
        found += [(-float(weakest.flat[at]), (a, *divmod(int(at), size))) for at in best if weakest.flat[at] > 0]
    return tuple(
        tuple(
            Beat(names[one], names[other], float(score[one, other]), float(most[one, other]))
            for one, other in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        )
        for _, cycle in sorted(found)[:_CYCLES]
    )


def _in_words(beat: Beat) -> str:
    return f"{beat.winner} beats {beat.loser} ({beat.score:g} of {beat.games:g})"
