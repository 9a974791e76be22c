"""Results as input of the statistics: finished matches, results of two players, and battles from any source.

Every rating, rate and mean is computed from the results of this module. Only this module excludes staff (e.g. a judge) and
matches that do not count.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from rating.store.records import FINISHED, Outcome, SeatOutcome

LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e6
"""Range of weights without overflow or loss of light results in sums."""

Style = Mapping[str, tuple[float, float]]
"""Counts in the texts of both sides (first, second) by name, e.g. ``{"length": (412, 230), "headers": (3, 0)}``."""

NO_STYLE: Style = MappingProxyType({})


class PairResult(NamedTuple):
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


def pair_results(outcomes: Iterable[Outcome], *, with_itself: bool = False) -> list[PairResult]:
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
            results.append(PairResult(outcome.number, first.policy, second.policy, score))
    return results


class Battle(NamedTuple):
    """Result of one comparison of two policies.

    Attributes:
        first: name of the first policy, on the earlier seat or shown first if known.
        second: name of the second policy.
        score: score of the first policy, 0 to 1: 1 for a win, 0.5 for a tie; other fractions are allowed.
        deal: battles of one deal, e.g. of one question, are not independent; empty for a battle of its own.
        weight: weight of the battle, ``LEAST_WEIGHT`` to ``MOST_WEIGHT``.
        style: covariates that ratings can hold equal (``style_control``); empty if unknown.
        truth: score of the first policy by the truth, if the score is a judge's; ``None`` if unknown.
        is_forfeited: whether an invalid move decided the game, of either policy or of another one at the table.
    """

    first: str
    second: str
    score: float
    deal: str = ""
    weight: float = 1.0
    style: Style = NO_STYLE
    truth: float | None = None
    is_forfeited: bool = False


class SeatConduct(NamedTuple):
    """Errors in one seat of a game of a log.

    Attributes:
        policy: name.
        deal: the game.
        erred: whether it made an invalid move.
        forfeited: whether that decided the result.
        others_forfeited: whether another seat forfeited.
    """

    policy: str
    deal: str
    erred: bool
    forfeited: bool
    others_forfeited: bool


def check_battle(battle: Battle) -> None:
    """Checks the score and the weight of a battle.

    Raises:
        ValueError: if the score is not within 0 and 1, or the weight not within its range.
    """
    if not 0 <= battle.score <= 1:
        raise ValueError(f"score: expected 0 to 1, got {battle.score} for {battle.first} against {battle.second}")
    if not LEAST_WEIGHT <= battle.weight <= MOST_WEIGHT:
        raise ValueError(
            f"weight: expected {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got {battle.weight} for {battle.first} against"
            f" {battle.second}"
        )


class WinDrawLoss(NamedTuple):
    """Wins, draws and losses of one policy."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def n(self) -> int:
        """Number of matches."""
        return self.wins + self.draws + self.losses

    def add(self, score: float) -> "WinDrawLoss":
        """Returns the tally after one more match with score 1, 0.5 or 0."""
        return WinDrawLoss(self.wins + (score == 1), self.draws + (score == 0.5), self.losses + (score == 0))


def records_by_seat(results: Iterable[PairResult]) -> dict[str, tuple[WinDrawLoss, WinDrawLoss]]:
    """Returns the tallies of each policy on the first and on the second seat, by name."""
    table: dict[str, tuple[WinDrawLoss, WinDrawLoss]] = defaultdict(lambda: (WinDrawLoss(), WinDrawLoss()))
    for result in results:
        first, second = table[result.first]
        table[result.first] = first.add(result.score), second
        first, second = table[result.second]
        table[result.second] = first, second.add(1 - result.score)
    return dict(sorted(table.items()))
