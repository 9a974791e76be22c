"""Forecast of further units: simulated continuations of a comparison."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rating.stats.betting import log_stakes, log_wealth
from rating.stats.units import Units

Floats = NDArray[np.float64]

LIMIT = 2_000
"""Maximum number of further units in a simulation."""

CONTINUATIONS = 100
_CHUNK = 50
_UNSEEN = ((0.0, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 3))
"""Possible scores that may not have been observed, with their weights; together they count as one observed score."""


class Bet(NamedTuple):
    """A bet against a bound on the mean score of a policy.

    Attributes:
        mean: the bound.
        needed: the e-value that refutes it.
        of_second: whether to use the scores of the second policy.
    """

    mean: float
    needed: float
    of_second: bool = False


class UnitsForecast(NamedTuple):
    """Result of the simulated continuations.

    Attributes:
        decided: share of continuations that reach a decision within ``limit`` further units.
        median: further units until half of them have a decision; ``None`` if fewer than half do within the limit.
        most: further units until 90 % have a decision; ``None`` if fewer do.
        limit: maximum number of further units.
    """

    decided: float
    median: int | None
    most: int | None
    limit: int


def forecast(units: Units, decisions: Sequence[Sequence[Bet]], *, seed: int = 0) -> UnitsForecast:
    """Simulates the number of further units until a decision.

    Each continuation draws scores from the observed ones with random weights (the Bayesian bootstrap), so with few units the
    continuations vary widely.

    Args:
        units: observed units; at least one.
        decisions: alternatives that end a comparison; each is reached when all its bets are won.
        seed: seed of the simulation.
    """
    rng = np.random.default_rng(seed)
    scores, weights, drawn = _draws(units, rng)
    bets = list(dict.fromkeys(bet for decision in decisions for bet in decision))
    ended = {bet: _first_reached(units, _stakes(scores, weights, bet)[drawn], bet) for bet in bets}
    ends = np.min([np.max([ended[bet] for bet in decision], axis=0) for decision in decisions], axis=0)
    return UnitsForecast(float(np.mean(ends <= LIMIT)), _quantile(ends, 0.5), _quantile(ends, 0.9), LIMIT)


def _draws(units: Units, rng: np.random.Generator) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Returns possible scores, their weights, and the index of each drawn score, shape (continuations, limit)."""
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
    """Returns the further units until each continuation wins a bet; 0 if it is already won, ``LIMIT`` + 1 for never.

    Args:
        units: observed units.
        stakes: log factors of the continuations, shape (continuations, limit, players).
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
        )  # the total wealth is at most the largest wealth of a player
        passed = log_wealth(course[near]) >= needed
        hit = passed.any(axis=1)
        reached[going[near[hit]]] = start + 1 + passed[hit].argmax(axis=1)
    return reached


def _quantile(ends: NDArray[np.int64], share: float) -> int | None:
    """Returns the further units until a share of the continuations has ended; ``None`` beyond the limit."""
    end = int(np.sort(ends)[int(np.ceil(share * len(ends))) - 1])
    return end if end <= LIMIT else None
