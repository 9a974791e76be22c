"""A rule of any kind, applied to a whole log."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from rating.records.outcome import PLAYED, Outcome
from rating.schedules.until import Rule
from rating.statistics.results import rated_seats


class Beginning(Protocol):
    """A rule of any kind, before anything was played."""

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the state of the rule before the first match; ``policies`` are those under test."""


def fold(outcomes: Iterable[Outcome], policies: Sequence[str], rule: Beginning, left_out: Collection[str] = ()) -> Rule:
    """Returns the state of a rule after all outcomes.

    Args:
        outcomes: all outcomes of one environment so far, void ones included, in any order.
        policies: the policies under test.
        rule: when to stop.
        left_out: policies that are not waited for.
    """
    state = rule.begin(policies)
    latest: dict[int, Outcome] = {}
    for outcome in outcomes:  # a void match may stand beside its repetition
        if outcome.number not in latest or outcome.status in PLAYED:
            latest[outcome.number] = outcome
    ordered = [latest[number] for number in sorted(latest)]
    for outcome in ordered:
        state.schedule(seat.policy for seat in rated_seats(outcome))
    state.add(ordered)
    for policy in sorted(left_out):
        state.leave_out(policy)
    return state
