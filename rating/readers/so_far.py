"""Battles of two policies in a run that may still be running, without bias from early finishers."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rating.readers.played import battles_of
from rating.stats.results import Battle, finished
from rating.store.records import FINISHED, Match, Outcome


class Conduct(NamedTuple):
    """Forfeits and fallbacks among a policy's results.

    Attributes:
        forfeits: forfeited matches; they count as lost.
        turns: turns taken.
        fallbacks: turns played by a fallback action.
    """

    forfeits: int
    turns: int
    fallbacks: int

    @property
    def played_for(self) -> float:
        """Share of fallback turns, not counting forfeits, 0 to 1."""
        return max(0, self.fallbacks - self.forfeits) / self.turns if self.turns else 0.0


class SoFar(NamedTuple):
    """The completed results of two policies.

    Attributes:
        battles: results in match-number order.
        seated: whether every battle is a two-seat match.
        waiting: their matches outside the completed prefix: in progress, or ended after one that is.
        without_result: their matches that ended without a result, e.g. because a provider failed.
        conduct: forfeits and fallbacks by policy.
    """

    battles: list[Battle]
    seated: bool
    waiting: int
    without_result: int
    conduct: dict[str, Conduct]


def so_far(matches: Iterable[tuple[Match, Outcome | None]], a: str, b: str) -> SoFar:
    """Returns the battles of two policies in the completed prefix of their matches.

    Matches do not end in schedule order: if wins are quick, the ended matches have more wins than the running ones. So a match
    counts when all earlier matches of the two, and all of its deal, have ended.

    In a match with more than two seats every pair of seats is a battle; the larger reward wins.

    Args:
        matches: of one environment, in match-number order, each with its outcome, or ``None`` if it is in progress.
        a: a policy.
        b: another policy.
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
    """Returns the outcomes of the completed prefix, without deals still in progress, and the number of other matches.

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
    """Returns forfeits and fallbacks of a policy in finished matches."""
    seats = [seat for outcome in outcomes for seat in outcome.seats if seat.policy == policy]
    return Conduct(
        sum(bool(seat.forfeit) for seat in seats),
        sum(seat.turns for seat in seats),
        sum(seat.fallbacks for seat in seats),
    )
