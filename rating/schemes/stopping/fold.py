"""Application of a stopping rule to a complete log."""

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from rating.schedules.adaptive import CAP
from rating.schedules.until import ENDED, SUSPENDED, Rule
from rating.schemes.pause import PAUSED
from rating.stats.results import rated_seats
from rating.store.outcome import PLAYED, Outcome

_NOT_BY_RULE = ("", SUSPENDED, ENDED, PAUSED)
"""Stop reasons that do not come from the rule."""


class Beginning(Protocol):
    """A stopping rule in its initial state."""

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the initial state of the rule; ``policies`` are those under test."""


class RuleValues(NamedTuple):
    """The current and required values of a rule.

    Attributes:
        stopped_with: values when it fired; empty if it has not.
        now: current values.
    """

    stopped_with: str = ""
    now: str = ""


def fold(
    outcomes: Iterable[Outcome],
    policies: Sequence[str],
    rule: Beginning,
    left_out: Collection[str] = (),
    *,
    known: int = sys.maxsize,
) -> Rule:
    """Returns the state of a rule after all outcomes.

    Args:
        outcomes: all outcomes of one environment, including void ones, in any order.
        policies: the policies under test.
        rule: stopping rule.
        left_out: excluded policies.
        known: number of the first scheduled match without an outcome for the rule.
    """
    state = rule.begin(policies)
    ordered = in_order(outcomes)
    for outcome in ordered:
        state.schedule(seat.policy for seat in rated_seats(outcome))
    state.add([outcome for outcome in ordered if outcome.number < known])
    for policy in sorted(left_out):
        state.leave_out(policy)
    return state


def fold_values(
    outcomes: Iterable[Outcome],
    policies: Sequence[str],
    rule: Beginning,
    left_out: Collection[str],
    stop_reason: str,
    stopped_after: int | None,
) -> RuleValues:
    """Returns the values of a rule when it fired, and its current values; arguments as ``fold``.

    Args:
        outcomes: counted outcomes, including in-flight matches.
        policies: the policies under test.
        rule: stopping rule.
        left_out: excluded policies.
        stop_reason: why play stopped.
        stopped_after: number of matches whose outcomes the rule had; ``None`` if it has not fired.
    """
    outcomes = in_order(outcomes)
    if stopped_after is None or stop_reason in _NOT_BY_RULE:
        return RuleValues(now=fold(outcomes, policies, rule, left_out).reached())
    state = fold(outcomes, policies, rule, left_out, known=stopped_after)
    has_fired = stop_reason == CAP or state.reason() == stop_reason  # false if the rule was edited since
    stopped_with = state.stopped_with(stop_reason) if has_fired else ""
    state.add([outcome for outcome in outcomes if outcome.number >= stopped_after])
    return RuleValues(stopped_with, state.reached())


def in_order(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Returns one outcome per match, by number: the replayed match in place of a void one."""
    latest: dict[int, Outcome] = {}
    for outcome in outcomes:
        if outcome.number not in latest or outcome.status in PLAYED:
            latest[outcome.number] = outcome
    return [latest[number] for number in sorted(latest)]
