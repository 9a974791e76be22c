"""Outcomes for the tests of the statistics: written down or drawn from known strengths."""

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np

from rating.schedules.batches import Contest, Schedule, Stop
from rating.store.records import BUG, FINISHED, VOID, Match, Outcome, SeatOutcome


def match(number: int, *seats: tuple[str, float], seed: int | None = None, status: str = FINISHED) -> Outcome:
    """A match by policy and reward of each seat; without a seed it has a deal of its own."""
    seed = number if seed is None else seed
    return Outcome("game_v0", number, seed, status, tuple(SeatOutcome(policy, reward) for policy, reward in seats))


def duel(number: int, first: str, second: str, winner: str | None, seed: int | None = None) -> Outcome:
    rewards = [0.0 if winner is None else 1.0 if name == winner else -1.0 for name in (first, second)]
    return match(number, (first, rewards[0]), (second, rewards[1]), seed=seed)


def void(number: int, *policies: str, status: str = VOID) -> Outcome:
    return match(number, *((policy, 0.0) for policy in policies), status=status)


def disturbed(outcomes: Sequence[Outcome], seed: int = 0) -> list[Outcome]:
    """The same finished matches in another order, with void and broken ones between them."""
    names = sorted({seat.policy for outcome in outcomes for seat in outcome.seats})
    start = max(outcome.number for outcome in outcomes) + 1
    extra = [
        void(start + index, *pair, status=(VOID, BUG)[index % 2])
        for index, pair in enumerate(itertools.permutations(names, 2))
    ]
    mixed = [*outcomes, *extra]
    return [mixed[index] for index in np.random.default_rng(seed).permutation(len(mixed))]


class Players:
    """Plays matches at random by strengths in Elo.

    Args:
        strengths: by policy.
        seat: advantage of the first seat.
        ties: share of ties.
        seed: of the results.
    """

    def __init__(self, strengths: dict[str, float], *, seat: float = 0.0, ties: float = 0.0, seed: int = 0) -> None:
        self.strengths = strengths
        self._seat = seat
        self._ties = ties
        self._rng = np.random.default_rng(seed)

    def play(self, matches: Iterable[Match]) -> list[Outcome]:
        return [self._play(item) for item in matches]

    def _play(self, item: Match) -> Outcome:
        first, second = item.policies
        lead = self.strengths[first] - self.strengths[second] + self._seat
        reward = 1.0 if self._rng.random() < 1 / (1 + 10 ** (-lead / 400)) else -1.0
        if self._rng.random() < self._ties:
            reward = 0.0
        seats = SeatOutcome(first, reward), SeatOutcome(second, -reward)
        return Outcome(item.environment, item.number, item.seed, FINISHED, seats)


def play_out(schedule: Schedule, players: "Players", limit: int = 2_000) -> tuple[list[list[Outcome]], str]:
    """Plays a schedule to its end as a runner does, the latest batches not yet added; returns the batches and the reason."""
    batches: list[list[Outcome]] = []
    added = 0
    for _ in range(limit):
        batch = schedule.next_batch()
        if isinstance(batch, Stop):
            return batches, batch.reason
        batches.append(players.play(batch))
        while len(batches) - added >= schedule.lag:
            schedule.add(batches[added])
            added += 1
    raise AssertionError(f"expected an end within {limit} batches")


def close(a: float, b: float, tolerance: float) -> bool:
    return math.isclose(a, b, rel_tol=0.0, abs_tol=tolerance)


def small_contest(*arguments, **options):
    """A contest with batches of ten matches of each policy, whatever the batches of runs are."""
    return Contest(*arguments, **{"batch": 10, **options})
