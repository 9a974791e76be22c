"""Prepares outcomes for computations: finished matches in match-number order, rated seats, and two-player results.

Every rating, rate and mean is computed from the results of this module. Only this module excludes staff (e.g. a judge) and
matches that do not count.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from rating.store.outcome import FINISHED, Outcome, SeatOutcome


class Duel(NamedTuple):
    """Result of a finished two-player match.

    Attributes:
        number: match number.
        first: policy on the first seat.
        second: policy on the second seat.
        score: score of the first policy: 1 for the larger reward, 0.5 for equal rewards, 0 for the smaller one.
    """

    number: int
    first: str
    second: str
    score: float


def rated_seats(outcome: Outcome) -> tuple[SeatOutcome, ...]:
    """Returns the rated seats, in seat order."""
    return tuple(seat for seat in outcome.seats if seat.rated)


def staff_seats(outcome: Outcome) -> tuple[SeatOutcome, ...]:
    """Returns the seats of staff: judges, examiners, simulated users."""
    return tuple(seat for seat in outcome.seats if not seat.rated)


def finished(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Returns the finished outcomes with their rated seats, in match-number order.

    Raises:
        ValueError: if they are from different environments, two have the same number, or a reward is not finite.
    """
    kept = sorted((outcome for outcome in outcomes if outcome.status == FINISHED), key=attrgetter("number"))
    environments = sorted({outcome.environment for outcome in kept})
    if len(environments) > 1:
        raise ValueError(f"expected the outcomes of one environment, got {', '.join(environments)}")
    for before, after in itertools.pairwise(kept):
        if before.number == after.number:
            raise ValueError(f"expected one finished outcome a match, got two with number {after.number}")
    checked = []
    for outcome in kept:
        has_staff = False
        for seat in outcome.seats:
            if not math.isfinite(seat.reward):
                raise ValueError(
                    f"match {outcome.number}: expected finite rewards, got {seat.reward} for {seat.policy}"
                )
            has_staff = has_staff or not seat.rated
        checked.append(replace(outcome, seats=rated_seats(outcome)) if has_staff else outcome)
    return checked


def seats_of(outcomes: Iterable[Outcome], policy: str) -> Iterator[tuple[Outcome, list[SeatOutcome]]]:
    """Yields the finished outcomes with rated seats of a policy, each with these seats, in input order."""
    for outcome in outcomes:
        if outcome.status == FINISHED:
            own = [seat for seat in outcome.seats if seat.policy == policy and seat.rated]
            if own:
                yield outcome, own


def rewards(outcomes: Iterable[Outcome], statistic: str = "") -> Iterator[tuple[int, str, float]]:
    """Yields match number, policy and its mean reward over its seats, for all finished matches in match-number order.

    Args:
        outcomes: outcomes of one environment, in any order.
        statistic: statistic of the environment to use instead of the reward.
    """
    for outcome in finished(outcomes):
        own: dict[str, list[float]] = {}
        for seat in outcome.seats:
            own.setdefault(seat.policy, []).append(seat.statistics[statistic] if statistic else seat.reward)
        for policy, paid in own.items():
            yield outcome.number, policy, sum(paid) / len(paid)


def duels(outcomes: Iterable[Outcome], *, with_itself: bool = False) -> list[Duel]:
    """Returns the results of finished two-player matches in match-number order.

    The larger reward wins; the size of the difference is ignored, so chips, points and wins are all rated alike.

    Args:
        outcomes: outcomes of one environment, in any order; void ones are skipped.
        with_itself: whether to include matches of a policy against itself, which are not informative about its strength.

    Raises:
        ValueError: as ``finished``, or if a match does not have two rated seats.
    """
    results = []
    for outcome in finished(outcomes):
        if len(outcome.seats) != 2:
            raise ValueError(f"match {outcome.number}: expected two rated seats, got {len(outcome.seats)}")
        first, second = outcome.seats
        if with_itself or first.policy != second.policy:
            score = 0.5 + 0.5 * ((first.reward > second.reward) - (first.reward < second.reward))
            results.append(Duel(outcome.number, first.policy, second.policy, score))
    return results
