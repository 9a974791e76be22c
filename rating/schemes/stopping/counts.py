"""Match counts: the base of all rules, and the rule with a fixed number of matches."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rating.schedules.adaptive import CAP
from rating.schedules.until import Rule
from rating.stats.results import finished
from rating.store.outcome import Outcome

LEAST_MATCHES = 50
"""Finished matches of each policy before means, or TrueSkill with the paper's rule, can stop play."""


@dataclass(frozen=True)
class CountRule:
    """The rule of environments without a rule for ratings: a fixed number of matches of each policy.

    Void matches are replayed when the run is resumed; no others replace them.

    Attributes:
        matches: of each policy, e.g. 100 as undercover.
        max_matches: scheduled matches of a policy after which no batch begins.
        opponent: the fixed policy of a ``field`` schedule, whose matches on the other seats do not count for it; empty for
            none.
    """

    matches: int = 100
    max_matches: int = 400
    opponent: str = ""

    def __post_init__(self) -> None:
        check_positive(self, "matches", "max_matches")

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the initial state of the rule; ``policies`` are those under test."""
        return _Counting(policies, self)


class MatchCounts:
    """Finished and scheduled matches of each policy; the base of every rule's state.

    Args:
        policies: those under test.
        most: scheduled matches of a policy after which no batch begins.
        opponent: policy whose matches count only if it has every seat; empty for none.

    Attributes:
        finished: finished matches by policy.
        scheduled: scheduled matches by policy.
    """

    def __init__(self, policies: Sequence[str], most: int, opponent: str = "") -> None:
        self.finished = dict.fromkeys(policies, 0)
        self.scheduled = dict.fromkeys(policies, 0)
        self._most = most
        self._opponent = opponent
        self._next = 0

    def schedule(self, policies: Iterable[str]) -> None:
        """Counts a match about to be played."""
        self._count(self.scheduled, set(policies))

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Counts the finished matches among the next outcomes.

        Raises:
            ValueError: if the outcomes do not follow the earlier ones.
        """
        numbers = [outcome.number for outcome in outcomes]
        if numbers:
            if min(numbers) < self._next:
                raise ValueError(f"expected outcomes from match {self._next} on, got match {min(numbers)}")
            self._next = max(numbers) + 1
        for outcome in finished(outcomes):
            self._count(self.finished, {seat.policy for seat in outcome.seats})

    def leave_out(self, policy: str) -> None:
        """Excludes a policy."""
        self.finished.pop(policy, None)
        self.scheduled.pop(policy, None)

    def cap(self) -> str:
        """Returns ``cap`` if a policy has reached the maximum number of scheduled matches, else an empty string."""
        return CAP if max(self.scheduled.values()) >= self._most else ""

    def stopped_with(self, reason: str) -> str:
        """Returns the values of the rule when it fired."""
        if reason == CAP:
            return f"{max(self.scheduled.values())} matches of a policy scheduled (max_matches: {self._most})"
        return self.reached()

    def reached(self) -> str:
        """Returns the current and required values."""
        raise NotImplementedError

    def _count(self, table: dict[str, int], names: set[str]) -> None:
        for name in (names - {self._opponent} or names) & table.keys():
            table[name] += 1


class _Counting(MatchCounts):
    """The state of a ``CountRule``."""

    least = math.inf

    def __init__(self, policies: Sequence[str], rule: CountRule) -> None:
        super().__init__(policies, rule.max_matches, rule.opponent)
        self._rule = rule

    def reason(self) -> str:
        if min(self.scheduled.values()) >= self._rule.matches:
            return "count"
        return self.cap()

    def stopped_with(self, reason: str) -> str:
        return super().stopped_with(reason) if reason == CAP else self._matches(self.scheduled)

    def reached(self) -> str:
        return self._matches(self.finished)

    def _matches(self, counts: Mapping[str, int]) -> str:
        fewest, most = min(counts.values()), max(counts.values())
        return f"{fewest if fewest == most else f'{fewest} to {most}'} matches of each policy (asked: {self._rule.matches})"


def check_positive(rule: object, *names: str) -> None:
    """Checks that attributes are 1 or more.

    Raises:
        ValueError: if one is less.
    """
    for name in names:
        if getattr(rule, name) < 1:
            raise ValueError(f"{name}: expected 1 or more, got {getattr(rule, name)}")
