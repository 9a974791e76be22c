"""Stopping rules of an environment.

A rule is a fold over the outcomes, in match-number order, and is checked between batches. The order of completion does not
matter. It returns the name of the reason to stop, and describes its values when it fired and at present. The reasons:

* the rule itself, e.g. ``order``: all its conditions hold (``rating.schemes.conditions``);
* ``alike``: policies whose order is unresolved hardly differ;
* ``mu_stable`` or ``sigma``: TrueSkill in match order has converged, with the rule ``trueskill`` only;
* ``count``: every policy has been scheduled for the requested number of matches;
* ``settled``: the interval of every policy's mean is narrow enough;
* ``cap``: a policy has reached its maximum number of scheduled matches, void ones included, which ends every run.

LLMArena (arXiv 2402.16499) plays until ratings converge and does not define convergence; the numbers are this project's.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rating.schedules.until import CAP, ENDED, SUSPENDED, Rule
from rating.schemes.conditions import (
    ALIKE_LEVEL,
    DEFAULT_RULE,
    TRUESKILL,
    Condition,
    MatchEvidence,
    TrueSkillInMatchOrder,
    compared,
    read_conditions,
)
from rating.stats.estimates import RunningMean
from rating.stats.results import finished, rated_seats
from rating.store.records import FINISHED, PLAYED, VOID, Outcome, SeatOutcome

PAUSED = "paused"
"""Stop reason: the first matches of the game give no information."""

FIRST_MATCHES = 30
"""Number of matches before the check, unless the scheme needs more to seat every policy."""

_TIED, _FORFEITED, _VOID, _UNDECIDED = "tied", "forfeited", "void", "without a result"


def no_information(outcomes: Iterable[Outcome], first_matches: int, *, rivals: bool) -> str:
    """Returns why the first matches of a game do not separate its policies; empty if at least one match does.

    Args:
        outcomes: of one environment, with all seats known, in any order; later matches are ignored.
        first_matches: number of matches to check.
        rivals: whether rewards within a match are compared; equal rewards are then a tie.
    """
    kinds = Counter(_kind(outcome, rivals) for outcome in outcomes if outcome.number < first_matches)
    if "" in kinds:
        return ""
    first = f"(the first {first_matches})"
    if len(kinds) == 1:
        return f"every match {next(iter(kinds))} {first}; no information"
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in (_TIED, _FORFEITED, _VOID, _UNDECIDED) if kind in kinds)
    return f"no match decided by play {first}: {counts}; no information"


def _kind(outcome: Outcome, rivals: bool) -> str:
    """Returns why a match does not separate its policies; empty if it does."""
    if outcome.status != FINISHED:
        return _VOID if outcome.status == VOID else _UNDECIDED
    seats = rated_seats(outcome)
    if any(seat.forfeit for seat in seats):
        return _FORFEITED
    is_tie = rivals and len({seat.policy for seat in seats}) > 1 and len({seat.reward for seat in seats}) == 1
    return _TIED if is_tie else ""


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

    @property
    def least(self) -> int:
        """Finished matches of each policy that adaptive schedules aim at."""
        return self.matches

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the initial state of the rule; ``policies`` are those under test."""
        return _Counting(policies, self)


class _Counting(Rule):
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
        rule: the conditions, in the syntax of ``rating.schemes.conditions``.
        alike: negligible difference in Elo; 0 for none.
        conditions: the parsed rule.

    Raises:
        OptionError: if the rule is invalid.
    """

    min_matches: int | None = None
    window: int = 20
    eps: float = 0.25
    sigma: float = 1.0
    max_matches: int = 400
    rule: str = DEFAULT_RULE
    alike: float = ALIKE_ELO
    conditions: tuple[Condition, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_positive(self, "window", "max_matches", *(("min_matches",) if self.min_matches is not None else ()))
        conditions = read_conditions(self.rule, window=self.window, eps=self.eps, sigma=self.sigma)
        object.__setattr__(self, "conditions", conditions)

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

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the initial state of the rule; ``policies`` are those under test."""
        return _Rated(policies, self)


class _Rated(Rule):
    """The state of a ``StopRule``."""

    def __init__(self, policies: Sequence[str], rule: StopRule) -> None:
        super().__init__(policies, rule.max_matches)
        self.least = rule.least
        self._rule = rule
        self._conditions = rule.conditions
        first = rule.conditions[0]
        self._online = first if isinstance(first, TrueSkillInMatchOrder) else None
        self._evidence = MatchEvidence(policies, rule.growth)
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
        if self._online is not None:
            return self._online.reason(self._evidence)
        if not self._is_due:
            return ""
        unmet = self._unmet()
        if not unmet:
            return self._rule.rule
        return ALIKE if self._rule.alike and self._alike(unmet) >= ALIKE_LEVEL else ""

    def _unmet(self) -> list[Condition]:
        return [condition for condition in self._conditions if not condition.holds(self._evidence)]

    def _alike(self, conditions: Sequence[Condition]) -> float:
        return min(condition.alike(self._evidence, self._rule.alike) for condition in conditions)

    def stopped_with(self, reason: str) -> str:
        if reason != ALIKE:
            return super().stopped_with(reason)
        known = f"probability {compared(self._alike(self._unmet()), ALIKE_LEVEL, 2)} (asked: {ALIKE_LEVEL:g})"
        tied = "every match was a tie; " if self._evidence.is_tied else ""
        return f"{tied}unresolved policies differ by less than {self._rule.alike:g} Elo, {known}; {self.reached()}"

    def reached(self) -> str:
        if not self._evidence.is_complete:
            return "at least one policy has no finished match"
        values = [condition.reached(self._evidence) for condition in self._conditions]
        if self._online is None:
            values.append(self._trueskill_values())
        return "; ".join(values)

    def _trueskill_values(self) -> str:
        """Returns the convergence of TrueSkill, for information only."""
        change = self._evidence.change(self._rule.window)
        moved = f", largest change of mu {change:.2f} over {self._rule.window} matches" if math.isfinite(change) else ""
        return f"TrueSkill: largest sigma {self._evidence.sigma():.2f}{moved}"


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

    @property
    def least(self) -> int:
        """Finished matches of each policy before anything except the cap can stop play."""
        return self.min_matches

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the initial state of the rule; ``policies`` are those under test."""
        return _Settling(policies, self)


class _Settling(Rule):
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


StoppingRule = StopRule | CountRule | SettlingRule

_NOT_BY_RULE = ("", SUSPENDED, ENDED, PAUSED)
"""Stop reasons that do not come from the rule."""


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
    rule: StoppingRule,
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
    rule: StoppingRule,
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
