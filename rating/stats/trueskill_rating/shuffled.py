"""TrueSkill averaged over random match orders.

TrueSkill depends on the order of the matches. The mean over random orders has a small order sensitivity, which is reported.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rating.stats.results import Duel, duels
from rating.stats.trueskill_rating.closed_form import check_draws, play
from rating.stats.trueskill_rating.options import TrueSkillOptions
from rating.store.outcome import Outcome


class Shuffled(NamedTuple):
    """A policy's rating over random match orders.

    Attributes:
        mu: mean of mu, with the ratings of each order shifted to the mean of the options.
        sigma: mean of sigma: the uncertainty of the skill.
        sd: standard deviation of the shifted mu: the order sensitivity, not an error of the rating.
    """

    mu: float
    sigma: float
    sd: float


def shuffled(
    outcomes: Iterable[Outcome] | Iterable[Duel],
    options: TrueSkillOptions | None = None,
    *,
    permutations: int = 20,
    seed: int = 0,
) -> dict[str, Shuffled]:
    """Rates two-player matches in random orders.

    The mean of all policies varies between orders, which has no meaning, so each order's ratings are centred before averaging.

    Args:
        outcomes: outcomes of one environment in any order, or their results; void outcomes are skipped.
        options: parameters of the model.
        permutations: number of random orders; at least 2.
        seed: seed of the random orders.

    Returns:
        By policy, sorted.

    Raises:
        ValueError: as ``rate``.
    """
    options = options or TrueSkillOptions()
    if permutations < 2:
        raise ValueError(f"permutations: expected 2 or more, got {permutations}")
    results = _results(outcomes)
    check_draws(results, options)
    names = sorted({name for duel in results for name in (duel.first, duel.second)})
    if not names:
        return {}
    index_of = {name: index for index, name in enumerate(names)}
    ordered = [(duel.first, duel.second) if duel.score > 0 else (duel.second, duel.first) for duel in results]
    indices = np.array([(index_of[winner], index_of[loser]) for winner, loser in ordered], dtype=np.int64)
    drawn = np.array([duel.score == 0.5 for duel in results])
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
    return {name: Shuffled(float(mu), float(sigma), float(sd)) for name, mu, sigma, sd in columns}


def _results(outcomes: Iterable[Outcome] | Iterable[Duel]) -> list[Duel]:
    """Returns results in match-number order, so the random orders do not depend on the input order."""
    given = list(outcomes)
    made = [result for result in given if isinstance(result, Duel)]
    if len(made) < len(given):
        return duels(outcome for outcome in given if isinstance(outcome, Outcome))
    return sorted(made)
