"""The battles of two policies in a run that may still be going on, without any that are there because of how they ended."""

from collections.abc import Iterable
from typing import NamedTuple

from rating.records.match import Match
from rating.records.outcome import FINISHED, Outcome
from rating.statistics.battles import Battle
from rating.statistics.results import finished


class Conduct(NamedTuple):
    """What of a policy's results is not its own play.

    Attributes:
        forfeits: matches it forfeited; they count as lost.
        turns: turns it took.
        fallbacks: turns that were played for it.
    """

    forfeits: int
    turns: int
    fallbacks: int


class SoFar(NamedTuple):
    """What is known of two policies.

    Attributes:
        battles: their results in match-number order.
        seated: whether a battle is a match between two seats.
        waiting: matches of theirs that are under way, or have ended but stand behind one that is.
        without_result: matches of theirs that have ended without a result, e.g. because a provider failed.
        conduct: how each of the two came to its results.
    """

    battles: list[Battle]
    seated: bool
    waiting: int
    without_result: int
    conduct: dict[str, Conduct]


def so_far(matches: Iterable[tuple[Match, Outcome | None]], a: str, b: str) -> SoFar:
    """Returns the battles of two policies before the first of their matches that is under way.

    Matches do not end in the order of the schedule: where wins are quick, those that have ended are more often wins than
    those that are still played. So a match counts when all of theirs before it, and all of its deal, have ended.

    Of a match with more than two seats every pair of seats is a battle; the larger reward wins.

    Args:
        matches: of one environment, in match-number order, each with its outcome, or ``None`` if it is under way.
        a: a policy.
        b: another one.
    """
    theirs = [(match, outcome) for match, outcome in matches if a in match.policies and b in match.policies]
    under_way = [match for match, outcome in theirs if outcome is None]
    deals = {match.seed for match in under_way}
    end = min((match.number for match in under_way), default=None)
    decided = [
        outcome
        for match, outcome in theirs
        if outcome is not None and (end is None or match.number < end) and match.seed not in deals
    ]
    kept = finished(decided)
    battles = [
        Battle(
            one.policy,
            other.policy,
            0.5 + 0.5 * ((one.reward > other.reward) - (one.reward < other.reward)),
            str(outcome.seed),
        )
        for outcome in kept
        for index, one in enumerate(outcome.seats)
        for other in outcome.seats[index + 1 :]
        if {one.policy, other.policy} == {a, b}
    ]
    seated = all(len(outcome.seats) == 2 for outcome in kept)
    without = sum(outcome.status != FINISHED for outcome in decided)
    return SoFar(battles, seated, len(theirs) - len(decided), without, {name: _conduct(kept, name) for name in (a, b)})


def _conduct(outcomes: Iterable[Outcome], policy: str) -> Conduct:
    seats = [seat for outcome in outcomes for seat in outcome.seats if seat.policy == policy]
    return Conduct(
        sum(bool(seat.forfeit) for seat in seats),
        sum(seat.turns for seat in seats),
        sum(seat.fallbacks for seat in seats),
    )
