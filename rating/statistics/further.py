"""What more units would likely tell: comparisons continued at random from what was seen so far."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rating.statistics.betting import log_stakes, log_wealth
from rating.statistics.units import Units

Floats = NDArray[np.float64]

LIMIT = 2_000
"""Further units that are looked ahead."""

CONTINUATIONS = 100
_CHUNK = 50
_UNSEEN = ((0.0, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 3))
"""Scores that nobody may have had yet, and how much they count beside one that was seen: together as one."""


class Bet(NamedTuple):
    """A bet against a bound on the mean score of a policy.

    Attributes:
        mean: the bound.
        needed: the e-value that refutes it.
        of_second: whether the scores are those of the second policy.
    """

    mean: float
    needed: float
    of_second: bool = False


class UnitsForecast(NamedTuple):
    """What the continuations came to.

    Attributes:
        decided: share of them that reach a decision within ``limit`` further units.
        median: further units after which half of them have; ``None`` if fewer than half do within the limit.
        most: further units after which nine of ten have; ``None`` if fewer do.
        limit: further units that were looked ahead.
    """

    decided: float
    median: int | None
    most: int | None
    limit: int


def forecast(units: Units, decisions: Sequence[Sequence[Bet]], *, seed: int = 0) -> UnitsForecast:
    """Simulates how many more units a decision takes.

    Each continuation draws its scores from those seen, with weights that are themselves drawn (the Bayesian bootstrap), so
    that few units make for continuations that differ much.

    Args:
        units: seen so far; at least one.
        decisions: any of them ends a comparison; it is reached when all its bets are won.
        seed: of the simulation.
    """
    rng = np.random.default_rng(seed)
    scores, weights, drawn = _draws(units, rng)
    bets = list(dict.fromkeys(bet for decision in decisions for bet in decision))
    ended = {bet: _first_reached(units, _stakes(scores, weights, bet)[drawn], bet) for bet in bets}
    ends = np.min([np.max([ended[bet] for bet in decision], axis=0) for decision in decisions], axis=0)
    return UnitsForecast(float(np.mean(ends <= LIMIT)), _quantile(ends, 0.5), _quantile(ends, 0.9), LIMIT)


def _draws(units: Units, rng: np.random.Generator) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Returns possible scores, their weights, and which of them each continuation draws, shape (continuations, limit)."""
    unseen, counts = np.array(_UNSEEN).T
    own = np.ones(len(units.scores)) if units.weights is None else units.weights
    seen, multiplicity = np.unique(np.stack([units.scores, own], axis=1), axis=0, return_counts=True)
    scores = np.concatenate([seen[:, 0], unseen])
    weights = np.concatenate([seen[:, 1], np.full(len(unseen), own.mean())])
    shares = np.cumsum(rng.gamma(np.concatenate([multiplicity, counts]), size=(CONTINUATIONS, len(scores))), axis=1)
    points = rng.random((CONTINUATIONS, LIMIT)) * shares[:, -1:]
    drawn = [np.searchsorted(share, point, side="right") for share, point in zip(shares, points, strict=True)]
    return scores, weights, np.minimum(drawn, len(scores) - 1)


def _stakes(scores: Floats, weights: Floats | None, bet: Bet) -> Floats:
    return log_stakes(1 - scores if bet.of_second else scores, bet.mean, weights)


def _first_reached(units: Units, stakes: Floats, bet: Bet) -> NDArray[np.int64]:
    """Returns after how many further units each continuation wins a bet; 0 if it is won, ``LIMIT`` + 1 for never.

    Args:
        units: seen so far.
        stakes: of the continuations, shape (continuations, limit, players).
        bet: the bet.
    """
    needed = np.log(bet.needed)
    so_far = np.cumsum(_stakes(units.scores, units.weights, bet), axis=0)
    reached = np.full(len(stakes), LIMIT + 1)
    if log_wealth(so_far if units.ordered else so_far[-1:]).max() >= needed:
        return np.zeros_like(reached)
    wealth = np.repeat(so_far[-1:], len(stakes), axis=0)
    for start in range(0, LIMIT, _CHUNK):
        going = np.flatnonzero(reached > LIMIT)
        if not len(going):
            break
        course = wealth[going, None] + np.cumsum(stakes[going, start : start + _CHUNK], axis=1)
        wealth[going] = course[:, -1]
        near = np.flatnonzero(
            course.max(axis=(1, 2)) >= needed
        )  # all together have no more than the richest would alone
        passed = log_wealth(course[near]) >= needed
        hit = passed.any(axis=1)
        reached[going[near[hit]]] = start + 1 + passed[hit].argmax(axis=1)
    return reached


def _quantile(ends: NDArray[np.int64], share: float) -> int | None:
    """Returns after how many further units a share of the continuations has ended, if it does within the limit."""
    end = int(np.sort(ends)[int(np.ceil(share * len(ends))) - 1])
    return end if end <= LIMIT else None
