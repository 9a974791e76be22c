"""The rule of environments whose mean rewards are waited for at one table: the means stand still, or are known closely enough.

DeepEval (arXiv 2309.04369, section 3) repeats a task until abilities converge; what that is here stands in
``rating.statistics.stableness``. The independent cases of the intervals are deals.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rating.records.outcome import Outcome
from rating.schedules.until import Rule
from rating.schemes.stopping.counts import Counts
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


class _Standstill:
    """The state of a ``StandstillRule``."""

    def __init__(self, policies: Sequence[str], rule: StandstillRule) -> None:
        self.least = 2 * rule.stableness.window
        self._rule = rule
        self._counts = Counts(policies)
        self._means = RunningStableness(policies, rule.stableness)

    def schedule(self, policies: Iterable[str]) -> None:
        self._counts.schedule(policies)

    def add(self, outcomes: Sequence[Outcome]) -> None:
        self._counts.add(outcomes)
        for outcome in finished(outcomes):
            for seat in outcome.seats:
                if seat.policy in self._means.steps:  # it is not left out
                    self._means.add(seat.policy, seat.reward, outcome.seed)

    def leave_out(self, policy: str) -> None:
        self._counts.leave_out(policy)
        self._means.leave_out(policy)

    def reason(self) -> str:
        if self._means.reason:
            return "stable" if self._means.reason == STABLE else "settled"
        return self._counts.cap(self._rule.max_matches)

    def reached(self) -> str:
        rule, played = self._rule.stableness, len(self._means.changes)
        if not played:
            return "somebody has not finished a match"
        change = self._means.changes[-1]
        widest = max(own[played - 1].half_width for own in self._means.steps.values())
        said = []
        if rule.eps is not None and change is not None:
            said.append(f"largest change of a mean over {rule.window} matches {change:.3g} (asked: below {rule.eps:g})")
        if rule.half_width is not None:
            said.append(f"every mean to ±{widest:.3g} (asked: below ±{rule.half_width:g})")
        return ", ".join(said)
