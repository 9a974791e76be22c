"""The stopping rule for means: every policy's mean reward, or statistic, is precise enough.

LLMArena (arXiv 2402.16499, Figure 2) plays until rewards converge and does not define convergence. Here a mean has converged
when its 95 % interval is narrow enough. Deals are the independent cases: matches on a common deal are less informative than
matches on separate deals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rating.schedules.until import Rule
from rating.schemes.stopping.counts import LEAST_MATCHES, MatchCounts
from rating.schemes.stopping.values import compared
from rating.stats.estimates import RunningMean
from rating.stats.results import finished
from rating.store.outcome import Outcome, SeatOutcome


@dataclass(frozen=True)
class SettlingRule:
    """Stops when the interval of every policy's mean has a half-width of at most ``half_width``, or at the cap.

    Attributes:
        half_width: maximum half-width of the 95 % interval.
        counted: returns the seats of a finished match that count.
        statistic: statistic of the environment to average; empty for the reward.
        min_matches: finished matches of each policy before anything except the cap can stop play, 2 or more.
        max_matches: scheduled matches of a policy after which no batch begins.
        opponent: the fixed policy on the seats that are not under test; its matches there do not count for it.
    """

    half_width: float
    counted: Callable[[Outcome], Sequence[SeatOutcome]]
    statistic: str = ""
    min_matches: int = LEAST_MATCHES
    max_matches: int = 400
    opponent: str = ""

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the initial state of the rule; ``policies`` are those under test."""
        return _Settling(policies, self)


class _Settling(MatchCounts):
    """The state of a ``SettlingRule``."""

    def __init__(self, policies: Sequence[str], rule: SettlingRule) -> None:
        super().__init__(policies, rule.max_matches, rule.opponent)
        self.least = rule.min_matches
        self._rule = rule
        self._means = {policy: RunningMean() for policy in policies}

    def add(self, outcomes: Sequence[Outcome]) -> None:
        super().add(outcomes)
        for outcome in finished(outcomes):
            for seat in self._rule.counted(outcome):
                if seat.policy in self._means:  # not excluded
                    value = seat.statistics[self._rule.statistic] if self._rule.statistic else seat.reward
                    self._means[seat.policy].add(value, outcome.seed)

    def leave_out(self, policy: str) -> None:
        super().leave_out(policy)
        self._means.pop(policy, None)

    def reason(self) -> str:
        rule = self._rule
        means = self._means.values()
        if min(mean.n for mean in means) >= rule.min_matches and all(
            mean.half_width() <= rule.half_width for mean in means
        ):
            return "settled"
        return self.cap()

    def reached(self) -> str:
        widest, most = max(mean.half_width() for mean in self._means.values()), self._rule.half_width
        return f"every mean to ±{compared(widest, most, 3, 'g')} (asked: ±{most:g})"
