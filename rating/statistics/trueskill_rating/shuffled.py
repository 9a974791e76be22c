"""TrueSkill free of the order of the matches: the mean over many random orders.

TrueSkill takes one match after the other and forgets how it came to what it believes, so that another order of the same
matches gives another rating. What is left of the order in a mean over random orders is small, and can be told.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rating.records.outcome import Outcome
from rating.statistics.results import Duel, duels
from rating.statistics.trueskill_rating.closed_form import check_draws, play
from rating.statistics.trueskill_rating.options import TrueSkillOptions


class Shuffled(NamedTuple):
    """A policy's rating over random orders of the matches.

    Attributes:
        mu: mean of mu, after every order's ratings were shifted to the mean of the options.
        sigma: mean of sigma: how uncertain the skill is.
        sd: standard deviation of the shifted values of mu: what the order of the matches does. It is no error of the rating.
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

    The mean of all policies shifts from order to order, which means nothing, so each order's ratings are centred before they
    are averaged.

    Args:
        outcomes: of one environment, in any order, void ones are skipped; or the results made from them.
        options: parameters of the model.
        permutations: number of random orders; at least 2.
        seed: of the random orders.

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
    """Returns results in the order of their numbers, so that the random orders are the same whatever order they came in."""
    given = list(outcomes)
    made = [result for result in given if isinstance(result, Duel)]
    if len(made) < len(given):
        return duels(outcome for outcome in given if isinstance(outcome, Outcome))
    return sorted(made)
