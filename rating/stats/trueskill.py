"""Online ratings: TrueSkill match by match and averaged over match orders, and Elo.

TrueSkill depends on the order of the matches. The mean over random orders has a small order sensitivity, which is reported.

Source: Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (NIPS 2006); parameters as in LLMArena (arXiv
2402.16499).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from rating.stats.results import PairResult, pair_results
from rating.store.records import Outcome

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_PI = math.sqrt(2 * math.pi)

_FAR = 30.0
"""Standard deviations beyond which the normal tail is replaced by its expansion: the distribution itself underflows at 38."""


@dataclass(frozen=True)
class TrueSkillOptions:
    """Parameters of the model, in units of skill.

    Attributes:
        mu: mean of a new policy's skill.
        sigma: its standard deviation.
        beta: standard deviation of the performance in one match.
        tau: standard deviation of the skill drift between matches; 0 suits policies that do not learn. With drift, sigma never
            falls below a floor, for any number of matches.
        draw_probability: draw probability of two equally strong policies; at least 0 and below 1.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 25.0 / 300
    draw_probability: float = 0.10

    def __post_init__(self) -> None:
        if not math.isfinite(self.mu):
            raise ValueError(f"mu: expected a finite number, got {self.mu}")
        for name in ("sigma", "beta"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name}: expected a positive number, got {getattr(self, name)}")
        if not 0 <= self.tau < math.inf:
            raise ValueError(f"tau: expected a number of 0 or more, got {self.tau}")
        if not 0 <= self.draw_probability < 1:
            raise ValueError(f"draw_probability: expected 0 or more and less than 1, got {self.draw_probability}")

    @cached_property
    def draw_margin(self) -> float:
        """Difference of two performances below which a match is a draw."""
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2) * math.sqrt(2) * self.beta


class TrueSkillRating(NamedTuple):
    """A belief about a policy's skill: mean and standard deviation."""

    mu: float
    sigma: float


def check_draws(results: Iterable[PairResult], options: TrueSkillOptions) -> None:
    """Checks that the model allows draws if there are any.

    Raises:
        ValueError: if a match was a draw and ``draw_probability`` is 0.
    """
    if options.draw_probability == 0 and any(result.score == 0.5 for result in results):
        raise ValueError("draw_probability: expected more than 0 for matches with draws, got 0")


def update_pair(
    winner: TrueSkillRating, loser: TrueSkillRating, drawn: bool, options: TrueSkillOptions
) -> tuple[TrueSkillRating, TrueSkillRating]:
    """Returns the new ratings of two players.

    Args:
        winner: rating of the winner, or of either player after a draw.
        loser: rating of the other player.
        drawn: whether the match was a draw; requires a positive draw probability.
        options: parameters of the model.
    """
    mus, variances = [winner.mu, loser.mu], [winner.sigma**2, loser.sigma**2]
    play(mus, variances, ((0, 1, drawn),), options)
    return TrueSkillRating(mus[0], math.sqrt(variances[0])), TrueSkillRating(mus[1], math.sqrt(variances[1]))


def play(
    mus: list[float], variances: list[float], results: Iterable[tuple[int, int, bool]], options: TrueSkillOptions
) -> None:
    """Rates matches in sequence, in place.

    Args:
        mus: mean skill of each player.
        variances: variance of the skill of each player.
        results: index of the winner, index of the loser, and whether the match was a draw.
        options: parameters of the model.
    """
    noise, drift, margin = 2 * options.beta**2, options.tau**2, options.draw_margin
    for winner, loser, drawn in results:
        own, other = variances[winner] + drift, variances[loser] + drift
        variance = noise + own + other
        scale = math.sqrt(variance)
        lead = mus[winner] - mus[loser]
        v, w = draw_corrections(lead / scale, margin / scale) if drawn else win_corrections((lead - margin) / scale)
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


def rate(outcomes: Iterable[Outcome], options: TrueSkillOptions | None = None) -> TrueSkillResult:
    """Rates finished two-player matches in match-number order.

    Args:
        outcomes: outcomes of one environment, in any order; void ones are skipped.
        options: parameters of the model.

    Raises:
        ValueError: if a match was a draw and ``draw_probability`` is 0; see also ``pair_results``.
    """
    running = RunningRatings(options or TrueSkillOptions())
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

    Args:
        options: parameters of the model.

    Attributes:
        ratings: by policy, after all added matches.
    """

    def __init__(self, options: TrueSkillOptions) -> None:
        self.ratings: dict[str, TrueSkillRating] = {}
        self._options = options
        self._start = TrueSkillRating(options.mu, options.sigma)

    def add(self, result: PairResult) -> None:
        """Rates the next match.

        Raises:
            ValueError: if it was a draw and ``draw_probability`` is 0.
        """
        check_draws((result,), self._options)
        winner, loser = (result.first, result.second) if result.score > 0 else (result.second, result.first)
        before = self.ratings.get(winner, self._start), self.ratings.get(loser, self._start)
        self.ratings[winner], self.ratings[loser] = update_pair(*before, result.score == 0.5, self._options)


class OrderAverage(NamedTuple):
    """A policy's rating over random match orders.

    Attributes:
        mu: mean of mu, with the ratings of each order shifted to the mean of the options.
        sigma: mean of sigma: the uncertainty of the skill.
        sd: standard deviation of the shifted mu: the order sensitivity, not an error of the rating.
    """

    mu: float
    sigma: float
    sd: float


def average_over_orders(
    results: Iterable[PairResult],
    options: TrueSkillOptions | None = None,
    *,
    permutations: int = 20,
    seed: int = 0,
) -> dict[str, OrderAverage]:
    """Rates two-player matches in random orders.

    The mean of all policies varies between orders, which has no meaning, so each order's ratings are centred before averaging.

    Args:
        results: in any order.
        options: parameters of the model.
        permutations: number of random orders; at least 2.
        seed: seed of the random orders.

    Returns:
        By policy, sorted.

    Raises:
        ValueError: if there are fewer than 2 orders, or a match was a draw and ``draw_probability`` is 0.
    """
    options = options or TrueSkillOptions()
    if permutations < 2:
        raise ValueError(f"permutations: expected 2 or more, got {permutations}")
    results = sorted(results)
    check_draws(results, options)
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
        means, variances = [options.mu] * len(names), [options.sigma**2] * len(names)
        winners, losers = indices[order].T.tolist()
        play(means, variances, zip(winners, losers, drawn[order].tolist(), strict=True), options)
        mus[row], sigmas[row] = means, [math.sqrt(variance) for variance in variances]
    mus += options.mu - mus.mean(axis=1, keepdims=True)
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
