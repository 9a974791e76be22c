"""The stopping rule of rated two-player environments: conditions that must all hold, between limits on the number of matches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from rating.schedules.until import Rule
from rating.schemes.stopping.conditions import ALIKE_LEVEL, Condition, TrueSkillInMatchOrder
from rating.schemes.stopping.counts import LEAST_MATCHES, MatchCounts, check_positive
from rating.schemes.stopping.evidence import MatchEvidence
from rating.schemes.stopping.grammar import DEFAULT_RULE, TRUESKILL, read_conditions
from rating.schemes.stopping.values import compared
from rating.stats.trueskill import TrueSkillOptions
from rating.store.outcome import Outcome

LOOK_EVERY = 100
"""Conditions that read all results are checked again after the results have grown by one in ``LOOK_EVERY``. Otherwise the cost of
each match would grow with the length of the run. Up to some thousand matches, a batch adds more than that.
"""

ALIKE = "alike"
"""Stop reason: the unresolved differences are negligible."""

ALIKE_ELO = 60.0
"""Default difference below which policies are alike, in Elo."""

LEAST_RATED = 8
"""Finished matches of each policy before conditions are checked, except for the paper's rule."""


@dataclass(frozen=True)
class StopRule:
    """The stopping rule of rated two-player environments.

    Stops when every policy has finished ``least`` matches and all conditions of the rule hold, or at the cap. It also stops, with
    the reason ``alike``, if only policies that hardly differ keep a condition from holding: unresolved pairs differ by less than
    ``alike`` with a probability of 90 %. Conditions that read all results are checked again after the results have grown by 1 %,
    which can make a long run longer by as much.

    Attributes:
        min_matches: finished matches of each policy before anything except the cap can stop play; ``None`` for 8, or for 50 with
            the rule ``trueskill``.
        window: number of a policy's last matches over which its mu is compared.
        eps: every mu must have changed by less.
        sigma: or every sigma must be less.
        max_matches: scheduled matches of a policy after which no batch begins.
        rule: the conditions, in the syntax of ``rating.schemes.stopping.grammar``.
        alike: negligible difference in Elo; 0 for none.
        trueskill: parameters of the ratings.
    """

    min_matches: int | None = None
    window: int = 20
    eps: float = 0.25
    sigma: float = 1.0
    max_matches: int = 400
    rule: str = DEFAULT_RULE
    alike: float = ALIKE_ELO
    trueskill: TrueSkillOptions = field(default_factory=TrueSkillOptions)

    def __post_init__(self) -> None:
        check_positive(self, "window", "max_matches", *(("min_matches",) if self.min_matches is not None else ()))
        self.conditions()

    @property
    def least(self) -> int:
        """Finished matches of each policy before anything except the cap can stop play."""
        if self.min_matches is not None:
            return self.min_matches
        return LEAST_MATCHES if self.rule.strip() == TRUESKILL else LEAST_RATED

    @property
    def growth(self) -> float:
        """Ratio of the number of results at the last look to their number at the first."""
        return max(1.0, self.max_matches / self.least)

    def conditions(self) -> tuple[Condition, ...]:
        """Returns the conditions of the rule.

        Raises:
            OptionError: if the rule is invalid.
        """
        return read_conditions(self.rule, window=self.window, eps=self.eps, sigma=self.sigma)

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the initial state of the rule; ``policies`` are those under test."""
        return _Rated(policies, self)


class _Rated(MatchCounts):
    """The state of a ``StopRule``."""

    def __init__(self, policies: Sequence[str], rule: StopRule) -> None:
        super().__init__(policies, rule.max_matches)
        self.least = rule.least
        self._rule = rule
        self._conditions = rule.conditions()
        self._evidence = MatchEvidence(policies, rule.trueskill, rule.growth)
        self._is_due = False
        self._next_look = 0

    def add(self, outcomes: Sequence[Outcome]) -> None:
        super().add(outcomes)
        self._evidence.add(outcomes)
        # Depends only on the batches, not on calls of reason(): a resumed run makes fewer calls.
        results = self._evidence.results
        self._is_due = self._is_enough() and results >= self._next_look
        if self._is_due:
            self._next_look = results + results // LOOK_EVERY

    def leave_out(self, policy: str) -> None:
        super().leave_out(policy)
        self._evidence.leave_out(policy)
        self._is_due = True

    def reason(self) -> str:
        return (self._satisfied() if self._is_enough() else "") or self.cap()

    def _is_enough(self) -> bool:
        return min(self.finished.values(), default=0) >= self.least and self._evidence.is_complete

    def _satisfied(self) -> str:
        first = self._conditions[0]
        if isinstance(first, TrueSkillInMatchOrder):
            return first.reason(self._evidence)
        if not self._is_due:
            return ""
        unmet = [condition for condition in self._conditions if not condition.holds(self._evidence)]
        if not unmet:
            return self._rule.rule
        return ALIKE if self._rule.alike and self._alike(unmet) >= ALIKE_LEVEL else ""

    def _alike(self, conditions: Sequence[Condition]) -> float:
        return min(condition.alike(self._evidence, self._rule.alike) for condition in conditions)

    def stopped_with(self, reason: str) -> str:
        if reason != ALIKE:
            return super().stopped_with(reason)
        unmet = [condition for condition in self._conditions if not condition.holds(self._evidence)]
        known = f"probability {compared(self._alike(unmet), ALIKE_LEVEL, 2)} (asked: {ALIKE_LEVEL:g})"
        tied = "every match was a tie; " if self._evidence.is_tied else ""
        return f"{tied}policies that are not told apart differ by less than {self._rule.alike:g} Elo, {known}; {self.reached()}"

    def reached(self) -> str:
        if not self._evidence.is_complete:
            return "at least one policy has no finished match"
        values = [condition.reached(self._evidence) for condition in self._conditions]
        if not isinstance(self._conditions[0], TrueSkillInMatchOrder):
            values.append(self._trueskill_values())
        return "; ".join(values)

    def _trueskill_values(self) -> str:
        """Returns the convergence of TrueSkill, for information only."""
        change = self._evidence.change(self._rule.window)
        moved = f", largest change of mu {change:.2f} over {self._rule.window} matches" if math.isfinite(change) else ""
        return f"TrueSkill: largest sigma {self._evidence.sigma():.2f}{moved}"
