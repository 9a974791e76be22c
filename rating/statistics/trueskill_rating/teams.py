"""TrueSkill of one match between any number of teams.

The computation is the library ``trueskill``'s. It is wrapped because it keeps a global environment, its own normal
distribution is good to six digits only, extreme upsets raise, a draw at draw probability 0 or a rank that is no number goes
through without a word, and the result of ties between more than two teams depends on the order in which these are given.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist

import trueskill

from rating.statistics.trueskill_rating.closed_form import cdf, draw_corrections, pdf, win_corrections
from rating.statistics.trueskill_rating.options import Rating, TrueSkillOptions

_SUREST = 1 - 1e-9
"""Share of a variance that one result may take away: nothing is left where the upset is so extreme that it rounds to 1."""

Player = tuple[float, float, float, str]
"""Mean, standard deviation, weight and name."""


def update(
    teams: Sequence[Mapping[str, Rating]],
    ranks: Sequence[float],
    options: TrueSkillOptions | None = None,
    weights: Mapping[str, float] | None = None,
) -> dict[str, Rating]:
    """Returns the new ratings of all players of one match between two or more teams.

    The result depends neither on the order of the teams nor on the names of the players: teams that tie with equal ratings
    come out equal.

    A team performs as the weighted sum of its players. Where teams are of different size, four players of the default weight
    1 are expected to beat one of the same skill so surely that nothing moves if they do: give weights of 1 / size then.

    Args:
        teams: the players of each team with their ratings.
        ranks: of each team, smaller is better, equal is a draw.
        options: parameters of the model.
        weights: share of a player in the performance of its team, 0 to 1; by default 1.

    Raises:
        ValueError: if ranks are not finite numbers, there is not one for each team, a player is in two teams, or there is
            a draw at draw probability 0.
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
    shares = weights or {}
    # The library takes ties for a chain, whose ends come out otherwise than its middle: the order is that of the ratings.
    ordered = sorted(
        (rank, sorted((*rating, shares.get(name, 1.0), name) for name, rating in team.items()))
        for rank, team in zip(ranks, teams, strict=True)
    )
    rated = _environment(options).rate(
        [tuple(trueskill.Rating(mu, sigma) for mu, sigma, _, _ in team) for _, team in ordered],
        ranks=[rank for rank, _ in ordered],
        weights=[tuple(weight for _, _, weight, _ in team) for _, team in ordered],
    )
    ratings = [[Rating(one.mu, one.sigma) for one in group] for group in rated]
    after: dict[str, Rating] = {}
    for _, alike in itertools.groupby(range(len(ordered)), lambda index: _nameless(*ordered[index])):
        places = list(alike)
        means = [_mean(column) for column in zip(*(ratings[place] for place in places), strict=True)]
        for place in places:
            after |= {player[-1]: mean for player, mean in zip(ordered[place][1], means, strict=True)}
    return {name: after[name] for name in names}


def _nameless(rank: float, team: list[Player]) -> tuple[float, list[tuple[float, float, float]]]:
    return rank, [player[:3] for player in team]


def _mean(ratings: Sequence[Rating]) -> Rating:
    mu, sigma = (math.fsum(column) / len(ratings) for column in zip(*ratings, strict=True))
    return Rating(mu, sigma)


@lru_cache(maxsize=8)
def _environment(options: TrueSkillOptions) -> trueskill.TrueSkill:
    environment = trueskill.TrueSkill(
        options.mu,
        options.sigma,
        options.beta,
        options.tau,
        options.draw_probability,
        backend=(cdf, pdf, NormalDist().inv_cdf),
    )
    # Those of the library fail beyond 38 standard deviations.
    environment.v_win = lambda lead, margin: win_corrections(lead - margin)[0]
    environment.w_win = lambda lead, margin: min(win_corrections(lead - margin)[1], _SUREST)
    environment.v_draw = lambda lead, margin: draw_corrections(lead, margin)[0]
    environment.w_draw = lambda lead, margin: min(draw_corrections(lead, margin)[1], _SUREST)
    return environment
