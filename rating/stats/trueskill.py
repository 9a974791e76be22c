"""Online ratings: TrueSkill match by match and averaged over match orders, and Elo.

TrueSkill depends on the order of the matches. The mean over random orders has a small order sensitivity, which is reported.

Source: Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (NIPS 2006); parameters as in LLMArena (arXiv
2402.16499).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from rating.stats.results import PairResult, pair_results
from rating.store.records import Outcome

MU = 25.0
"""Mean of a new policy's skill."""

SIGMA = 25.0 / 3
"""Its standard deviation."""

BETA = 25.0 / 6
"""Standard deviation of the performance in one match."""

TAU = 25.0 / 300
"""Standard deviation of the skill drift between matches; because of it, sigma never falls below a floor."""

DRAW_PROBABILITY = 0.10
"""Draw probability of two equally strong policies."""

_MARGIN = NormalDist().inv_cdf((DRAW_PROBABILITY + 1) / 2) * math.sqrt(2) * BETA
"""Difference of two performances below which a match is a draw."""

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_PI = math.sqrt(2 * math.pi)

_FAR = 30.0
"""Standard deviations beyond which the normal tail is replaced by its expansion: the distribution itself underflows at 38."""


class TrueSkillRating(NamedTuple):
    """A belief about a policy's skill: mean and standard deviation."""

    mu: float
    sigma: float


def update_pair(
    winner: TrueSkillRating, loser: TrueSkillRating, drawn: bool
) -> tuple[TrueSkillRating, TrueSkillRating]:
    """Returns the new ratings of two players.

    Args:
        winner: rating of the winner, or of either player after a draw.
        loser: rating of the other player.
        drawn: whether the match was a draw.
    """
    mus, variances = [winner.mu, loser.mu], [winner.sigma**2, loser.sigma**2]
    play(mus, variances, ((0, 1, drawn),))
    return TrueSkillRating(mus[0], math.sqrt(variances[0])), TrueSkillRating(mus[1], math.sqrt(variances[1]))


def play(mus: list[float], variances: list[float], results: Iterable[tuple[int, int, bool]]) -> None:
    """Rates matches in sequence, in place.

    Args:
        mus: mean skill of each player.
        variances: variance of the skill of each player.
        results: index of the winner, index of the loser, and whether the match was a draw.
    """
    noise, drift = 2 * BETA**2, TAU**2
    for winner, loser, drawn in results:
        own, other = variances[winner] + drift, variances[loser] + drift
        variance = noise + own + other
        scale = math.sqrt(variance)
        lead = mus[winner] - mus[loser]
        v, w = draw_corrections(lead / scale, _MARGIN / scale) if drawn else win_corrections((lead - _MARGIN) / scale)
        mus[winner] += own / scale * v
        mus[loser] -= other / scale * v
        w /= variance
        variances[winner] = own * (1 - own * w)
        variances[loser] = other * (1 - other * w)


def win_corrections(x: float) -> tuple[float, float]:
    """Returns the additive and the multiplicative correction of a normal variable cut off below ``-x``."""
    if x < -_FAR:
        # Asymptotic expansion of Mills' ratio.
        return -x - 1 / x + 2 / x**3 - 10 / x**5, 1 - 1 / x**2 + 6 / x**4
    v = math.exp(-0.5 * x * x) / _SQRT_2_PI / (0.5 * math.erfc(-x * _SQRT_HALF))
    return v, v * (v + x)


def draw_corrections(lead: float, margin: float) -> tuple[float, float]:
    """Returns the corrections of a normal variable around ``lead`` cut off beyond ``-margin`` and ``margin``."""
    near, far = margin - abs(lead), -margin - abs(lead)
    if near < -_FAR:
        v, w = win_corrections(near)
    else:
        mass = cdf(near) - cdf(far)
        v = (pdf(near) - pdf(far)) / mass
        w = v * v + (near * pdf(near) - far * pdf(far)) / mass
    return (-v if lead > 0 else v), w


def cdf(x: float) -> float:
    """Returns the normal distribution function, with full relative precision."""
    return 0.5 * math.erfc(-x * _SQRT_HALF)


def pdf(x: float) -> float:
    """Returns the normal density."""
    return math.exp(-0.5 * x * x) / _SQRT_2_PI


class RatingStep(NamedTuple):
    """A policy's rating after one of its matches: match number, mean and standard deviation."""

    number: int
    mu: float
    sigma: float


@dataclass(frozen=True)
class TrueSkillResult:
    """Ratings after all matches.

    Attributes:
        ratings: by policy name.
        history: for each policy its rating after each of its matches, in match-number order.
    """

    ratings: dict[str, TrueSkillRating]
    history: dict[str, tuple[RatingStep, ...]]


def rate(outcomes: Iterable[Outcome]) -> TrueSkillResult:
    """Rates finished two-player matches in match-number order.

    Args:
        outcomes: outcomes of one environment, in any order; void ones are skipped.

    Raises:
        ValueError: as ``pair_results``.
    """
    running = RunningRatings()
    history: dict[str, list[RatingStep]] = {}
    for result in pair_results(outcomes):
        running.add(result)
        for name in (result.first, result.second):
            history.setdefault(name, []).append(RatingStep(result.number, *running.ratings[name]))
    return TrueSkillResult(
        dict(sorted(running.ratings.items())), {name: tuple(history[name]) for name in sorted(history)}
    )


class RunningRatings:
    """TrueSkill ratings updated match by match.

    Attributes:
        ratings: by policy, after all added matches.
    """

    def __init__(self) -> None:
        self.ratings: dict[str, TrueSkillRating] = {}

    def add(self, result: PairResult) -> None:
        """Rates the next match."""
        winner, loser = (result.first, result.second) if result.score > 0 else (result.second, result.first)
        new = TrueSkillRating(MU, SIGMA)
        before = self.ratings.get(winner, new), self.ratings.get(loser, new)
        self.ratings[winner], self.ratings[loser] = update_pair(*before, result.score == 0.5)


class OrderAverage(NamedTuple):
    """A policy's rating over random match orders.

    Attributes:
        mu: mean of mu, with the ratings of each order shifted to the mean ``MU``.
        sigma: mean of sigma: the uncertainty of the skill.
        sd: standard deviation of the shifted mu: the order sensitivity, not an error of the rating.
    """

    mu: float
    sigma: float
    sd: float


def average_over_orders(
    results: Iterable[PairResult], *, permutations: int = 20, seed: int = 0
) -> dict[str, OrderAverage]:
    """Rates two-player matches in random orders.

    The mean of all policies varies between orders, which has no meaning, so each order's ratings are centred before averaging.

    Args:
        results: in any order.
        permutations: number of random orders; at least 2.
        seed: seed of the random orders.

    Returns:
        By policy, sorted.

    Raises:
        ValueError: if there are fewer than 2 orders.
    """
    if permutations < 2:
        raise ValueError(f"permutations: expected 2 or more, got {permutations}")
    results = sorted(results)
    names = sorted({name for result in results for name in (result.first, result.second)})
    if not names:
        return {}
    index_of = {name: index for index, name in enumerate(names)}
    ordered = [
        (result.first, result.second) if result.score > 0 else (result.second, result.first) for result in results
    ]
    indices = np.array([(index_of[winner], index_of[loser]) for winner, loser in ordered], dtype=np.int64)
    drawn = np.array([result.score == 0.5 for result in results])
    rng = np.random.default_rng(seed)
    mus, sigmas = np.empty((2, permutations, len(names)))
    for row in range(permutations):
        order = rng.permutation(len(results))
        means, variances = [MU] * len(names), [SIGMA**2] * len(names)
        winners, losers = indices[order].T.tolist()
        play(means, variances, zip(winners, losers, drawn[order].tolist(), strict=True))
        mus[row], sigmas[row] = means, [math.sqrt(variance) for variance in variances]
    mus += MU - mus.mean(axis=1, keepdims=True)
    columns = zip(names, mus.mean(axis=0), sigmas.mean(axis=0), mus.std(axis=0, ddof=1), strict=True)
    return {name: OrderAverage(float(mu), float(sigma), float(sd)) for name, mu, sigma, sd in columns}


def elo(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Returns Elo ratings after all finished two-player matches, by policy name.

    Scale 400, base 10; a tie is half a win; matches are applied in match-number order. A new policy has 1000, and a match changes
    a rating by at most 4 (Auto-Arena, arXiv 2405.20267v1). The result depends on the order of the matches: publish
    ``rating.stats.bradley_terry`` instead.

    Args:
        outcomes: outcomes of one environment; void ones are skipped.
    """
    ratings: dict[str, float] = {}
    for result in pair_results(outcomes):
        first, second = ratings.setdefault(result.first, 1000.0), ratings.setdefault(result.second, 1000.0)
        change = 4 * (result.score - 1 / (1 + 10 ** ((second - first) / 400)))
        ratings[result.first], ratings[result.second] = first + change, second - change
    return dict(sorted(ratings.items()))
