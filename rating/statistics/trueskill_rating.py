"""TrueSkill ratings of two-player matches, their history, and how much they owe to the order of the matches.

Source: Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (NIPS 2006); parameters as in LLMArena
(arXiv 2402.16499, section 3.1).

The computation is the library ``trueskill``'s. It is wrapped because it keeps a global environment, its own normal
distribution is good to six digits only, a draw at draw probability 0 or a rank that is no number goes through without a
word, and the result of ties between more than two teams depends on the order in which these are given.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import trueskill

from rating.records.outcome import Outcome
from rating.statistics.results import Duel, duels

_SQRT_2 = math.sqrt(2)
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
        tau: standard deviation by which skill drifts from match to match; 0 suits policies that do not learn.
        draw_probability: of two equally strong policies; at least 0 and below 1.
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

    @property
    def draw_margin(self) -> float:
        """Difference of two performances below which a match is a draw."""
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2) * _SQRT_2 * self.beta


class Rating(NamedTuple):
    """A belief about a policy's skill: mean and standard deviation."""

    mu: float
    sigma: float


class Step(NamedTuple):
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

    ratings: dict[str, Rating]
    history: dict[str, tuple[Step, ...]]


class Spread(NamedTuple):
    """A policy's mu over random orders of the matches.

    Attributes:
        mu: mean, after every order's ratings were shifted to the mean of the options.
        sd: standard deviation of the shifted values.
    """

    mu: float
    sd: float


def rate(outcomes: Iterable[Outcome], options: TrueSkillOptions | None = None) -> TrueSkillResult:
    """Rates finished two-player matches in match-number order.

    Args:
        outcomes: of one environment, in any order; void ones are skipped.
        options: parameters of the model.

    Raises:
        ValueError: if a match was a draw and ``draw_probability`` is 0; see also ``rating.statistics.results.duels``.
    """
    options = options or TrueSkillOptions()
    results = duels(outcomes)
    _check_draws(results, options)
    start = Rating(options.mu, options.sigma)
    ratings: dict[str, Rating] = {}
    history: dict[str, list[Step]] = {}
    for number, first, second, score in results:
        teams = [{first: ratings.get(first, start)}, {second: ratings.get(second, start)}]
        after = update(teams, (1 - score, score), options)
        ratings.update(after)
        for name in (first, second):
            history.setdefault(name, []).append(Step(number, *after[name]))
    return TrueSkillResult(dict(sorted(ratings.items())), {name: tuple(history[name]) for name in sorted(history)})


class RunningRatings:
    """Ratings that go on from match to match; the same as those of ``rate`` to nine decimals or more, and far faster.

    Args:
        options: parameters of the model.

    Attributes:
        ratings: by policy, after all matches so far.
    """

    def __init__(self, options: TrueSkillOptions) -> None:
        self.ratings: dict[str, Rating] = {}
        self._options = options
        self._start = Rating(options.mu, options.sigma)
        self._constants = _constants(options)

    def add(self, duel: Duel) -> None:
        """Rates the next match.

        Raises:
            ValueError: if it was a draw and ``draw_probability`` is 0.
        """
        _check_draws([duel], self._options)
        winner, loser = (duel.first, duel.second) if duel.score > 0 else (duel.second, duel.first)
        before = self.ratings.get(winner, self._start), self.ratings.get(loser, self._start)
        self.ratings[winner], self.ratings[loser] = _update_duel(*before, duel.score == 0.5, *self._constants)


def update(
    teams: Sequence[Mapping[str, Rating]],
    ranks: Sequence[float],
    options: TrueSkillOptions | None = None,
    weights: Mapping[str, float] | None = None,
) -> dict[str, Rating]:
    """Returns the new ratings of all players of one match between two or more teams, in any order of the teams.

    A team performs as the weighted sum of its players, so teams of different size need weights such as 1 / size.

    Args:
        teams: the players of each team with their ratings.
        ranks: of each team, smaller is better, equal is a draw.
        options: parameters of the model.
        weights: share of a player in the performance of its team, 0 to 1; by default 1.

    Raises:
        ValueError: if ranks are not finite numbers, there is not one for each team, a player is in two teams, or there is
            a draw at draw probability 0.
        FloatingPointError: if a team of several players, or one with weights, wins against odds of dozens of standard
            deviations.
    """
    options = options or TrueSkillOptions()
    if len(ranks) != len(teams):
        raise ValueError(f"ranks: expected one for each of {len(teams)} teams, got {len(ranks)}")
    if not all(math.isfinite(rank) for rank in ranks):
        raise ValueError(f"ranks: expected finite numbers, got {list(ranks)}")
    if options.draw_probability == 0 and len(set(ranks)) < len(ranks):
        raise ValueError("draw_probability: expected more than 0 for a match with a draw, got 0")
    names = [name for team in teams for name in team]
    if len(set(names)) < len(names):
        raise ValueError(f"teams: expected every player once, got {sorted(names)}")
    # The library's result of a draw between several teams depends on their order.
    order = sorted(range(len(teams)), key=lambda index: (ranks[index], sorted(teams[index])))
    players = [sorted(teams[index]) for index in order]
    groups = [
        tuple(trueskill.Rating(*teams[index][name]) for name in team)
        for index, team in zip(order, players, strict=True)
    ]
    shares = None if weights is None else [tuple(weights.get(name, 1.0) for name in team) for team in players]
    try:
        rated = _environment(options).rate(groups, ranks=[ranks[index] for index in order], weights=shares)
    except FloatingPointError:
        if len(names) > 2 or shares:
            raise
        # An upset by dozens of standard deviations.
        (winner,), (loser,) = players
        drawn = ranks[0] == ranks[1]
        return dict(zip((winner, loser), update_duel(*_pair(teams, order), drawn, options), strict=True))
    return {
        name: Rating(rating.mu, rating.sigma)
        for team, group in zip(players, rated, strict=True)
        for name, rating in zip(team, group, strict=True)
    }


def _pair(teams: Sequence[Mapping[str, Rating]], order: Sequence[int]) -> tuple[Rating, Rating]:
    (first,), (second,) = (teams[index].values() for index in order)
    return first, second


def _check_draws(results: list[Duel], options: TrueSkillOptions) -> None:
    if options.draw_probability == 0 and any(duel.score == 0.5 for duel in results):
        raise ValueError("draw_probability: expected more than 0 for matches with draws, got 0")


def _cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / _SQRT_2)


def _pdf(x: float) -> float:
    return math.exp(-0.5 * x * x) / _SQRT_2_PI


@lru_cache(maxsize=8)
def _environment(options: TrueSkillOptions) -> trueskill.TrueSkill:
    return trueskill.TrueSkill(
        options.mu,
        options.sigma,
        options.beta,
        options.tau,
        options.draw_probability,
        backend=(_cdf, _pdf, NormalDist().inv_cdf),
    )


def update_duel(winner: Rating, loser: Rating, drawn: bool, options: TrueSkillOptions) -> tuple[Rating, Rating]:
    """Returns the new ratings of two players by the closed form, which is exact and a hundred times as fast as ``update``.

    Args:
        winner: rating of the winner, or of either player after a draw.
        loser: rating of the other player.
        drawn: whether the match was a draw; the draw probability must not be 0 then.
        options: parameters of the model.
    """
    return _update_duel(winner, loser, drawn, *_constants(options))


def _constants(options: TrueSkillOptions) -> tuple[float, float, float]:
    """Returns noise of two performances, drift and draw margin."""
    return 2 * options.beta**2, options.tau**2, options.draw_margin


def _update_duel(
    winner: Rating, loser: Rating, drawn: bool, noise: float, drift: float, margin: float
) -> tuple[Rating, Rating]:
    winner_variance = winner[1] * winner[1] + drift
    loser_variance = loser[1] * loser[1] + drift
    variance = noise + winner_variance + loser_variance
    scale = math.sqrt(variance)
    lead, margin = (winner[0] - loser[0]) / scale, margin / scale
    v, w = _draw_corrections(lead, margin) if drawn else _win_corrections(lead - margin)
    return (
        Rating(
            winner[0] + winner_variance / scale * v, math.sqrt(winner_variance * (1 - winner_variance / variance * w))
        ),
        Rating(loser[0] - loser_variance / scale * v, math.sqrt(loser_variance * (1 - loser_variance / variance * w))),
    )


def _win_corrections(x: float) -> tuple[float, float]:
    """Returns the additive and the multiplicative correction of a normal variable cut off below ``-x``."""
    if x < -_FAR:
        # Asymptotic expansion of Mills' ratio.
        return -x - 1 / x + 2 / x**3 - 10 / x**5, 1 - 1 / x**2 + 6 / x**4
    v = _pdf(x) / _cdf(x)
    return v, v * (v + x)


def _draw_corrections(lead: float, margin: float) -> tuple[float, float]:
    """Returns the corrections of a normal variable around ``lead`` cut off beyond ``-margin`` and ``margin``."""
    near, far = margin - abs(lead), -margin - abs(lead)
    if near < -_FAR:
        v, w = _win_corrections(near)
    else:
        mass = _cdf(near) - _cdf(far)
        v = (_pdf(near) - _pdf(far)) / mass
        w = v * v + (near * _pdf(near) - far * _pdf(far)) / mass
    return (-v if lead > 0 else v), w


def permutation_spread(
    outcomes: Iterable[Outcome],
    options: TrueSkillOptions | None = None,
    *,
    permutations: int = 20,
    seed: int = 0,
) -> dict[str, Spread]:
    """Returns how far each policy's mu depends on the order of the matches.

    The matches are rated in random orders. The mean of all policies shifts from order to order, which means nothing, so
    each order's ratings are centred before they are compared.

    Args:
        outcomes: of one environment; void ones are skipped.
        options: parameters of the model.
        permutations: number of random orders; at least 2.
        seed: of the random orders.

    Raises:
        ValueError: as ``rate``.
    """
    options = options or TrueSkillOptions()
    if permutations < 2:
        raise ValueError(f"permutations: expected 2 or more, got {permutations}")
    results = duels(outcomes)
    _check_draws(results, options)
    names = sorted({name for duel in results for name in (duel.first, duel.second)})
    if not names:
        return {}
    rng = np.random.default_rng(seed)
    mus = np.array([_final_mus(results, rng.permutation(len(results)), names, options) for _ in range(permutations)])
    mus += options.mu - mus.mean(axis=1, keepdims=True)
    return {
        name: Spread(float(mean), float(sd))
        for name, mean, sd in zip(names, mus.mean(axis=0), mus.std(axis=0, ddof=1), strict=True)
    }


def _final_mus(results: list[Duel], order: Iterable[int], names: list[str], options: TrueSkillOptions) -> list[float]:
    ratings = dict.fromkeys(names, Rating(options.mu, options.sigma))
    noise, drift, margin = _constants(options)
    for index in order:
        _, winner, loser, score = results[index]
        if score == 0:
            winner, loser = loser, winner
        ratings[winner], ratings[loser] = _update_duel(
            ratings[winner], ratings[loser], score == 0.5, noise, drift, margin
        )
    return [ratings[name].mu for name in names]
