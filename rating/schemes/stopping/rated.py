"""The rule of rated two-player environments: conditions that must all hold, between a least and a greatest number of matches."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rating.records.outcome import Outcome
from rating.schedules.until import Rule
from rating.schemes.stopping.conditions import Condition, TrueSkillInMatchOrder
from rating.schemes.stopping.counts import Counts, check_positive
from rating.schemes.stopping.evidence import Evidence
from rating.schemes.stopping.grammar import DEFAULT_RULE, read_conditions
from rating.statistics.trueskill_rating import TrueSkillOptions

LOOK_EVERY = 100
"""Share of the results, one in so many, by which they have grown when conditions are asked again that read all of them: without
that, every match of a long run would cost more than the one before. A batch has more than that up to some thousand matches."""


@dataclass(frozen=True)
class StopRule:
    """The rule of rated two-player environments.

    Stops when every policy has finished ``min_matches`` matches and all conditions of the rule hold, or at the cap. Conditions
    that read all results are asked again when these have grown by a hundredth, so a long run may be longer by that.

    Attributes:
        min_matches: finished matches of each policy before anything but the cap can stop.
        window: own matches ago with which a policy's mu is compared.
        eps: every mu must have changed by less.
        sigma: or every sigma must be less.
        max_matches: scheduled matches of a policy after which no batch is begun in any case.
        rule: the conditions, as ``rating.schemes.stopping.grammar`` reads them.
        trueskill: parameters of the ratings.
    """

    min_matches: int = 50
    window: int = 20
    eps: float = 0.25
    sigma: float = 1.0
    max_matches: int = 400
    rule: str = DEFAULT_RULE
    trueskill: TrueSkillOptions = field(default_factory=TrueSkillOptions)

    def __post_init__(self) -> None:
        check_positive(self, "min_matches", "window", "max_matches")
        self.conditions()

    def conditions(self) -> tuple[Condition, ...]:
        """Returns what the rule asks for, besides numbers of matches.

        Raises:
            OptionError: if it is no rule.
        """
        return read_conditions(self.rule, window=self.window, eps=self.eps, sigma=self.sigma)

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the state of the rule before the first match; ``policies`` are those under test."""
        return _Rated(policies, self)


class _Rated(Counts):
    """The state of a ``StopRule``."""

    def __init__(self, policies: Sequence[str], rule: StopRule) -> None:
        super().__init__(policies, rule.max_matches)
        self.least = rule.min_matches
        self._rule = rule
        self._conditions = rule.conditions()
        self._evidence = Evidence(policies, rule.trueskill)
        self._is_due = False
        self._next_look = 0

    def add(self, outcomes: Sequence[Outcome]) -> None:
        super().add(outcomes)
        self._evidence.add(outcomes)
        # Of the batch alone, not of when the rule is asked: a run that goes on is asked from there on only.
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
        return min(self.finished.values(), default=0) >= self._rule.min_matches and self._evidence.is_complete

    def _satisfied(self) -> str:
        first = self._conditions[0]
        if isinstance(first, TrueSkillInMatchOrder):
            return first.reason(self._evidence)
        if not self._is_due:
            return ""
        return self._rule.rule if all(condition.holds(self._evidence) for condition in self._conditions) else ""

    def reached(self) -> str:
        if not self._evidence.is_complete:
            return "at least one policy has no finished match"
        return "; ".join(condition.reached(self._evidence) for condition in self._conditions)
