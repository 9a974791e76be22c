"""Stopping rules: when the matches of an environment suffice.

A rule is a function of the outcomes so far, folded: it takes them in match-number order, goes on from where it was, and is
asked between batches, so that it does not depend on the order in which matches end. It answers with the name of the reason to
stop:

* ``mu_stable``: no policy's TrueSkill mu has changed much over its last matches;
* ``sigma``: every policy's TrueSkill sigma is small;
* ``order_known``: the order of the Bradley-Terry ratings is known with the wanted confidence;
* ``count``: every policy has been scheduled for the wanted number of matches;
* ``settled``: every policy's mean is known closely enough (``rating.schemes.settling``, ``rating.schemes.standstill``);
* ``stable``: no policy's mean has changed much over its last matches (``rating.schemes.standstill``);
* ``cap``: a policy has been scheduled as often as allowed, void matches included, so that every run ends.

LLMArena (arXiv 2402.16499, section 3.1) plays until ratings converge and does not say what that is; the numbers are this
project's.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rating.records.outcome import PLAYED, Outcome
from rating.schedules.until import Rule
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryOptions
from rating.statistics.results import Duel, duels, finished, rated_seats
from rating.statistics.trueskill_rating import RunningRatings, TrueSkillOptions

ORDER_DRAWS = 200


@dataclass(frozen=True)
class StopRule:
    """The rule of rated two-player environments.

    Stops when every policy has finished ``min_matches`` matches and one of ``mu_stable``, ``sigma`` and ``order_known``
    holds, or at the cap.

    Attributes:
        min_matches: finished matches of each policy before anything but the cap can stop.
        window: own matches ago with which a policy's mu is compared.
        eps: every mu must have changed by less.
        sigma: every sigma must be less.
        max_matches: scheduled matches of a policy after which no batch is begun in any case.
        expected_order: stop if the expected Spearman correlation of the fitted order with the true one is at least this,
            e.g. 0.99; ``None`` for not at all.
        trueskill: parameters of the ratings.
        bradley_terry: what is fitted for ``expected_order``.
    """

    min_matches: int = 50
    window: int = 20
    eps: float = 0.25
    sigma: float = 1.0
    max_matches: int = 400
    expected_order: float | None = None
    trueskill: TrueSkillOptions = field(default_factory=TrueSkillOptions)
    bradley_terry: BradleyTerryOptions = field(default_factory=BradleyTerryOptions)

    def __post_init__(self) -> None:
        _check_positive(self, "min_matches", "window", "max_matches")
        if self.expected_order is not None and not 0 < self.expected_order <= 1:
            raise ValueError(f"expected_order: expected a correlation above 0, at most 1, got {self.expected_order}")

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the state of the rule before the first match; ``policies`` are those under test."""
        return _Convergence(policies, self)


@dataclass(frozen=True)
class CountRule:
    """The rule of environments that are not rated by TrueSkill: a fixed number of matches of each policy.

    Void matches among them are played when the run goes on; no others are played instead.

    Attributes:
        matches: of each policy, e.g. 100 as undercover.
        max_matches: scheduled matches of a policy after which no batch is begun in any case.
        opponent: the fixed policy of a ``field`` schedule, whose matches on the other seats are not its own; empty for
            none.
    """

    matches: int = 100
    max_matches: int = 400
    opponent: str = ""

    def __post_init__(self) -> None:
        _check_positive(self, "matches", "max_matches")

    def begin(self, policies: Sequence[str]) -> Rule:
        """Returns the state of the rule before the first match; ``policies`` are those under test."""
        return _Counting(policies, self)


def stop_reason(
    outcomes: Iterable[Outcome], policies: Sequence[str], rule: StopRule | CountRule | None = None
) -> str | None:
    """Returns the name of the reason to stop, or ``None`` to go on: the rule folded over a whole log.

    Args:
        outcomes: all outcomes of one environment so far, void ones included, in any order.
        policies: the policies under test.
        rule: by default ``StopRule()``.
    """
    folded = (rule or StopRule()).begin(policies)
    latest: dict[int, Outcome] = {}
    for outcome in outcomes:  # a void match may stand beside its repetition
        if outcome.number not in latest or outcome.status in PLAYED:
            latest[outcome.number] = outcome
    ordered = [latest[number] for number in sorted(latest)]
    for outcome in ordered:
        folded.schedule(seat.policy for seat in rated_seats(outcome))
    folded.add(ordered)
    return folded.reason() or None


class Counts:
    """Finished and scheduled matches of each policy; those of ``opponent`` only where it is on every seat.

    Attributes:
        finished: finished matches by policy.
        scheduled: scheduled matches by policy.
    """

    def __init__(self, policies: Sequence[str], opponent: str = "") -> None:
        self.finished = dict.fromkeys(policies, 0)
        self.scheduled = dict.fromkeys(policies, 0)
        self._opponent = opponent
        self._next = 0

    def schedule(self, policies: Iterable[str]) -> None:
        """Counts a match that is going to be played."""
        self._count(self.scheduled, set(policies))

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Counts the finished ones of the next outcomes.

        Raises:
            ValueError: if they do not follow those before.
        """
        numbers = [outcome.number for outcome in outcomes]
        if numbers:
            if min(numbers) < self._next:
                raise ValueError(f"expected outcomes from match {self._next} on, got match {min(numbers)}")
            self._next = max(numbers) + 1
        for outcome in finished(outcomes):
            self._count(self.finished, {seat.policy for seat in outcome.seats})

    def leave_out(self, policy: str) -> None:
        """Counts a policy no longer."""
        self.finished.pop(policy, None)
        self.scheduled.pop(policy, None)

    def _count(self, table: dict[str, int], names: set[str]) -> None:
        for name in (names - {self._opponent} or names) & table.keys():
            table[name] += 1


class _Counting:
    """The state of a ``CountRule``."""

    least = math.inf

    def __init__(self, policies: Sequence[str], rule: CountRule) -> None:
        self._rule = rule
        self._counts = Counts(policies, rule.opponent)

    def schedule(self, policies: Iterable[str]) -> None:
        self._counts.schedule(policies)

    def add(self, outcomes: Sequence[Outcome]) -> None:
        self._counts.add(outcomes)

    def leave_out(self, policy: str) -> None:
        self._counts.leave_out(policy)

    def reason(self) -> str:
        if min(self._counts.scheduled.values()) >= self._rule.matches:
            return "count"
        return "cap" if max(self._counts.scheduled.values()) >= self._rule.max_matches else ""


class _Convergence:
    """The state of a ``StopRule``: counts, TrueSkill ratings with their last values of mu, results of each pair."""

    def __init__(self, policies: Sequence[str], rule: StopRule) -> None:
        self.least = rule.min_matches
        self._rule = rule
        self._counts = Counts(policies)
        self._skills = RunningRatings(rule.trueskill)
        self._mus: dict[str, deque[float]] = {}
        self._results: dict[tuple[str, str], list[int]] = {}

    def schedule(self, policies: Iterable[str]) -> None:
        self._counts.schedule(policies)

    def add(self, outcomes: Sequence[Outcome]) -> None:
        self._counts.add(outcomes)
        for duel in duels(outcomes):
            self._skills.add(duel)
            for name in (duel.first, duel.second):
                mus = self._mus.setdefault(name, deque([self._rule.trueskill.mu], maxlen=self._rule.window + 1))
                mus.append(self._skills.ratings[name].mu)
            self._results.setdefault((duel.first, duel.second), [0, 0, 0])[_place(duel)] += 1

    def leave_out(self, policy: str) -> None:
        self._counts.leave_out(policy)

    def reason(self) -> str:
        if min(self._counts.finished.values()) >= self._rule.min_matches and (reason := self._converged()):
            return reason
        return "cap" if max(self._counts.scheduled.values()) >= self._rule.max_matches else ""

    def _converged(self) -> str:
        rule, ratings, policies = self._rule, self._skills.ratings, self._counts.finished
        if any(name not in ratings for name in policies):  # it has only met itself
            return ""
        if all(self._change(name) < rule.eps for name in policies):
            return "mu_stable"
        if all(ratings[name].sigma < rule.sigma for name in policies):
            return "sigma"
        if rule.expected_order is not None and len(policies) > 1:
            fitted = bradley_terry.fit_counts(*self._counted_results(), rule.bradley_terry)
            if bradley_terry.expected_order(fitted, draws=ORDER_DRAWS) >= rule.expected_order:
                return "order_known"
        return ""

    def _change(self, name: str) -> float:
        """Returns by how much a policy's mu has changed over the window; endless while it has played fewer matches."""
        mus = self._mus[name]
        return abs(mus[-1] - mus[0]) if len(mus) == self._rule.window + 1 else float("inf")

    def _counted_results(self) -> tuple[list[str], bradley_terry.Integers]:
        names = sorted(self._skills.ratings)
        counts = np.zeros((len(names), len(names), 3), dtype=np.int64)
        for (first, second), results in self._results.items():
            counts[names.index(first), names.index(second)] = results
        return names, counts


def _place(duel: Duel) -> int:
    """Returns where ``bradley_terry.fit_counts`` expects a result: 0 lost by the first seat, 1 tied, 2 won."""
    return round(2 * duel.score)


def _check_positive(rule: StopRule | CountRule, *names: str) -> None:
    for name in names:
        if getattr(rule, name) < 1:
            raise ValueError(f"{name}: expected 1 or more, got {getattr(rule, name)}")
