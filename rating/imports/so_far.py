"""The battles of two policies in a run that may still be going on, without any that are there because of how they ended."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rating.imports.played import battles_of
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

    @property
    def played_for(self) -> float:
        """Share of its turns that were played for it, without those that are matches forfeited, 0 to 1."""
        return max(0, self.fallbacks - self.forfeits) / self.turns if self.turns else 0.0


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
    decided, waiting = ended(matches, lambda match: a in match.policies and b in match.policies)
    kept = finished(decided)
    battles = [battle for outcome in kept for battle in battles_of(outcome) if {battle.first, battle.second} == {a, b}]
    seated = all(len(outcome.seats) == 2 for outcome in kept)
    without = sum(outcome.status != FINISHED for outcome in decided)
    return SoFar(battles, seated, waiting, without, {name: conduct(kept, name) for name in (a, b)})


def ended(
    matches: Iterable[tuple[Match, Outcome | None]], is_theirs: Callable[[Match], bool]
) -> tuple[list[Outcome], int]:
    """Returns the outcomes before the first match that is under way, without those of its deal, and how many matches wait.

    Args:
        matches: as for ``so_far``.
        is_theirs: whether a match counts for the comparison.
    """
    theirs = [(match, outcome) for match, outcome in matches if is_theirs(match)]
    under_way = [match for match, outcome in theirs if outcome is None]
    deals = {match.seed for match in under_way}
    end = min((match.number for match in under_way), default=None)
    decided = [
        outcome
        for match, outcome in theirs
        if outcome is not None and (end is None or match.number < end) and match.seed not in deals
    ]
    return decided, len(theirs) - len(decided)


def conduct(outcomes: Iterable[Outcome], policy: str) -> Conduct:
    """Returns how a policy came to its results in finished matches."""
    seats = [seat for outcome in outcomes for seat in outcome.seats if seat.policy == policy]
    return Conduct(
        sum(bool(seat.forfeit) for seat in seats),
        sum(seat.turns for seat in seats),
        sum(seat.fallbacks for seat in seats),
    )
