"""The rule of environments whose mean rewards are waited for at one table: the means stand still, or are known closely enough.

DeepEval (arXiv 2309.04369) repeats a task until abilities converge; what that is here stands in
``rating.statistics.stableness``. The independent cases of the intervals are deals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rating.records.outcome import Outcome
from rating.schedules.adaptive import CAP
from rating.schedules.until import Rule
from rating.schemes.stopping.counts import Counts
from rating.schemes.stopping.values import compared
from rating.statistics.results import finished
from rating.statistics.stableness import STABLE, RunningStableness, StablenessRule


@dataclass(frozen=True)
class StandstillRule:
    """Stops when every policy's mean reward stands still or has a narrow interval, or at the cap.

    Attributes:
        stableness: what counts as standing still.
        max_matches: scheduled matches of a policy after which no batch is begun in any case.
    """

    stableness: StablenessRule
    max_matches: int = 400

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the state of the rule before the first match; ``policies`` are those under test."""
        return _Standstill(policies, self)


class _Standstill(Counts):
    """The state of a ``StandstillRule``."""

    def __init__(self, policies: Sequence[str], rule: StandstillRule) -> None:
        super().__init__(policies, rule.max_matches)
        self.least = 2 * rule.stableness.window
        self._rule = rule
        self._means = RunningStableness(policies, rule.stableness)

    def add(self, outcomes: Sequence[Outcome]) -> None:
        super().add(outcomes)
        for outcome in finished(outcomes):
            for seat in outcome.seats:
                if seat.policy in self._means.steps:  # it is not left out
                    self._means.add(seat.policy, seat.reward, outcome.seed)

    def leave_out(self, policy: str) -> None:
        super().leave_out(policy)
        self._means.leave_out(policy)

    def reason(self) -> str:
        if self._means.reason:
            return "stable" if self._means.reason == STABLE else "settled"
        return self.cap()

    def stopped_with(self, reason: str) -> str:
        """Returns the values after the match at which the condition held first: later ones of the batch may differ."""
        matches = self._means.matches
        if reason == CAP or matches is None:
            return super().stopped_with(reason)
        return f"{self._change(matches) if reason == STABLE else self._width(matches)}, after {matches} matches of each policy"

    def reached(self) -> str:
        played = len(self._means.changes)
        if not played:
            return "at least one policy has no finished match"
        return ", ".join(filter(None, (self._change(played), self._width(played))))

    def _change(self, matches: int) -> str:
        """Returns the largest change of a mean that counts after so many matches; empty if none is asked for or known."""
        rule = self._rule.stableness
        changes = [change for change in self._means.changes[:matches][-rule.window :] if change is not None]
        if rule.eps is None or not changes:
            return ""
        return (
            f"largest change of a mean over {rule.window} matches {compared(max(changes), rule.eps, 3, 'g')},"
            f" {len(changes)} matches in a row (asked: below {rule.eps:g}, {rule.window} in a row)"
        )

    def _width(self, matches: int) -> str:
        """Returns the widest interval after so many matches; empty if none is asked for."""
        most = self._rule.stableness.half_width
        if most is None:
            return ""
        widest = max(own[matches - 1].half_width for own in self._means.steps.values())
        return f"every mean to ±{compared(widest, most, 3, 'g')} (asked: below ±{most:g})"
