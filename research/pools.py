"""Pools of policies of known strength, and matches drawn from the Bradley-Terry model."""

from statistics import NormalDist

import numpy as np

from rating.schedules.round_robin import circle
from rating.stats.bradley_terry import ELO_PER_NAT, Floats, Integers
from rating.stats.design import Design

POOLS: dict[str, Floats] = {
    "A": 200 * np.array([NormalDist().inv_cdf((rank + 0.5) / 14) for rank in range(14)]),
    "B": np.arange(14) * np.float64(60),
    "D": np.array([-560.0, -480, -400, *(30.0 * np.arange(-4, 5)), 360, 460]),
    "outlier": np.array([*(30.0 * np.arange(5)), 900.0]),
}
"""Strengths in Elo: quantiles of a normal distribution with sd 200, even steps, three groups, one far above five."""


def win(lead: Floats) -> Floats:
    """Returns the chance to win with a lead in Elo."""
    chance: Floats = 1 / (1 + np.exp(-lead / ELO_PER_NAT))
    return chance


def play(rng: np.random.Generator, lead: Floats, ties: float = 0.0) -> Floats:
    """Draws scores, 1, 0.5 or 0, of players with a lead in Elo; a share of all matches are ties."""
    score = (rng.random(lead.shape) < win(lead)).astype(float)
    score[rng.random(lead.shape) < ties] = 0.5
    return score


def spearman(ratings: Floats, strengths: Floats) -> Floats:
    """Returns the rank correlation of ratings with strengths along the last axis, without ties."""
    size = strengths.shape[-1]
    distance = np.argsort(np.argsort(ratings)) - np.argsort(np.argsort(strengths))
    correlation: Floats = 1 - 6 * (distance**2).sum(axis=-1) / (size * (size**2 - 1))
    return correlation


def round_robin(size: int) -> list[tuple[int, int]]:
    """Returns the pairs of one cycle, in the order of the schedule."""
    rounds = circle([str(index) for index in range(size)])
    return [(int(first), int(second)) for pairs in rounds for first, second in pairs]


def play_adaptively(
    rng: np.random.Generator, strengths: Floats, games: int, *, under_way: int = 0, can_tie: bool = True
) -> tuple[Integers, Integers, Floats]:
    """Plays pairs on one deal from both seats, each chosen by the results of all but the latest pairs.

    Args:
        rng: random generator of choices and results.
        strengths: strengths in Elo, shape (n,).
        games: number of games.
        under_way: number of latest pairs whose results are unknown when a pair is chosen.
        can_tie: whether to draw for ties too, with a chance of 0. It changes the numbers drawn later.

    Returns:
        The first policies, the second policies, and the scores of the first, shape (games,) each.
    """
    size = len(strengths)
    design = Design(size, seed=int(rng.integers(2**32)))
    first, second = np.empty((2, games), dtype=np.int64)
    score = np.empty(games)
    for begin in range(0, games + 2 * under_way, 2):
        if begin < games:
            one, other = np.unravel_index(int(design.draw().argmax()), (size, size))
            both = slice(begin, begin + 2)
            first[both], second[both] = (one, other), (other, one)
            lead = strengths[first[both]] - strengths[second[both]]
            score[both] = play(rng, lead) if can_tie else rng.random(2) < win(lead)
            design.enter(_counts(size, first[both], second[both]) + _counts(size, second[both], first[both]))
        ended = slice(begin - 2 * under_way, begin - 2 * under_way + 2)
        if ended.start >= 0:
            one_by_one, swapped = first[ended], second[ended]
            design.enter(-_counts(size, one_by_one, swapped) - _counts(size, swapped, one_by_one))
            design.add(_counts(size, one_by_one, swapped, score[ended]), _counts(size, one_by_one, swapped))
    return first, second, score


def _counts(size: int, first: Integers, second: Integers, weights: Floats | None = None) -> Floats:
    """Returns the games of each pair, the first on the row, or the sums of their weights, shape (n, n)."""
    counts = np.zeros((size, size))
    np.add.at(counts, (first, second), 1.0 if weights is None else weights)
    return counts
