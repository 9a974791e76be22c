"""Schedules that play batches until a stopping rule fires, in one phase or, with newcomers, in several."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from rating.schedules.batches import UNLIMITED, Contest, Stop
from rating.store.records import FINISHED, Match, Outcome

CAP = "cap"
"""Stop reason: a policy has reached its maximum number of scheduled matches."""

SUSPENDED = "suspended"
"""Stop reason: no match is left without an excluded policy."""

ENDED = "ended"
"""Stop reason: the schedule ended in an earlier session, and newcomers followed."""


class Source(Protocol):
    """A source of batches that depend on outcomes."""

    @property
    def is_known(self) -> bool:
        """Whether the next batch is independent of outcomes."""

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next complete batch, in match-number order, including void ones."""

    def leave_out(self, policy: str) -> None:
        """Excludes a policy from further batches."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch, or the reason to stop."""


class Fixed:
    """Batches that do not depend on outcomes.

    Args:
        batches: endless sequence of batches.
    """

    is_known = True

    def __init__(self, batches: Iterator[list[Match]]) -> None:
        self._batches = batches

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Does nothing."""

    def leave_out(self, policy: str) -> None:
        """Does nothing: matches of an excluded policy keep their numbers."""

    def next_batch(self) -> list[Match]:
        """Returns the next batch."""
        return next(self._batches)


class Rule(ABC):
    """The state of a stopping rule, updated incrementally: the cost of a call does not grow with the run.

    The values of a rule need at least one policy that is not excluded.

    Args:
        policies: those under test.
        most: scheduled matches of a policy after which no batch begins.
        opponent: policy whose matches count only if it has every seat; empty for none.

    Attributes:
        least: finished matches of every policy before results can stop play; limits on scheduled matches apply earlier.
        finished: finished matches by policy.
        scheduled: scheduled matches by policy.
    """

    least: float

    def __init__(self, policies: Sequence[str], most: int, opponent: str = "") -> None:
        self.finished = dict.fromkeys(policies, 0)
        self.scheduled = dict.fromkeys(policies, 0)
        self._most = most
        self._opponent = opponent
        self._next = 0

    @abstractmethod
    def reason(self) -> str:
        """Returns the reason to stop, or an empty string."""

    @abstractmethod
    def reached(self) -> str:
        """Returns the current and required values."""

    def schedule(self, policies: Iterable[str]) -> None:
        """Counts a match about to be played, given the policies on its rated seats."""
        self._count(self.scheduled, set(policies))

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next matches, including void ones.

        Raises:
            ValueError: if the outcomes do not follow the earlier ones.
        """
        numbers = [outcome.number for outcome in outcomes]
        if numbers:
            if min(numbers) < self._next:
                raise ValueError(f"expected outcomes from match {self._next} on, got match {min(numbers)}")
            self._next = max(numbers) + 1
        for outcome in outcomes:
            if outcome.status == FINISHED:
                self._count(self.finished, {seat.policy for seat in outcome.seats if seat.rated})

    def leave_out(self, policy: str) -> None:
        """Excludes a policy; ignores policies that are not under test."""
        self.finished.pop(policy, None)
        self.scheduled.pop(policy, None)

    def cap(self) -> str:
        """Returns ``cap`` if a policy has reached the maximum number of scheduled matches, else an empty string."""
        return CAP if max(self.scheduled.values()) >= self._most else ""

    def stopped_with(self, reason: str) -> str:
        """Returns the values of the rule when it fired for a reason."""
        if reason == CAP:
            return f"{max(self.scheduled.values())} matches of a policy scheduled (max_matches: {self._most})"
        return self.reached()

    def _count(self, table: dict[str, int], names: set[str]) -> None:
        for name in (names - {self._opponent} or names) & table.keys():
            table[name] += 1


class Until:
    """A schedule that plays batches until a rule fires.

    The rule is checked before every batch. It has the outcomes up to ``lag`` batches before that one, and all scheduled matches.
    Limits on scheduled matches are therefore exact, while with a lag of 2 one more batch is played after the rule is satisfied.
    The schedule stops with the reason ``suspended`` if all matches of the next batch need an excluded policy, e.g. the fixed
    opponent.

    Args:
        contest: policies and environment.
        batches: source of batches that depend on outcomes, or an endless sequence of fixed ones.
        rule: stopping rule.
        ahead: lag if the next batch depends on outcomes; fixed batches do not before the rule has its minimum number of matches.
        matches: number of matches at the end of the phase, if a later phase has begun; ``None`` if the rule decides.
        begun: number of matches before which it does not end, since they were begun in an earlier session under another rule or
            without a suspended policy, and their numbers are used.
    """

    starts: Sequence[int] = ()

    def __init__(
        self,
        contest: Contest,
        batches: Source | Iterator[list[Match]],
        rule: Rule,
        ahead: int,
        *,
        matches: int | None = None,
        begun: int = 0,
    ) -> None:
        self._ahead = ahead
        self._matches = matches
        self._begun = begun
        self._given = 0
        self._contest = contest
        self._source = Fixed(batches) if isinstance(batches, Iterator) else batches
        self._rule = rule
        self._left_out: set[str] = set()
        self._scheduled = dict.fromkeys(contest.policies, 0)
        self._until_batch: list[dict[str, int]] = []
        self._stop: Stop | None = None

    @property
    def lag(self) -> int:
        """Maximum number of concurrent batches."""
        if not self._source.is_known:
            return self._ahead
        if self._matches is not None:
            return UNLIMITED
        decisive = len(self._until_batch) - self._ahead  # last batch that the next one depends on
        counts = self._until_batch[decisive] if decisive >= 0 else {}
        fewest = min((counts.get(name, 0) for name in self._contest.policies if name not in self._left_out), default=0)
        return UNLIMITED if fewest < self._rule.least else self._ahead

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next complete batch."""
        self._source.add(outcomes)
        self._rule.add(outcomes)

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch, or the reason to stop."""
        if self._stop is None:
            batch = self._choose()
            if not isinstance(batch, Stop):
                return batch
            self._stop = batch
        return self._stop

    def leave_out(self, policy: str) -> None:
        """Excludes a policy."""
        self._left_out.add(policy)
        self._source.leave_out(policy)
        self._rule.leave_out(policy)

    def _choose(self) -> list[Match] | Stop:
        if self._matches is not None:
            return self._enter(self._source.next_batch()) if self._given < self._matches else Stop(ENDED)
        if self._given < self._begun:
            return self._enter(self._source.next_batch())
        if self._left_out.issuperset(self._contest.policies):
            return Stop(SUSPENDED)
        if reason := self._rule.reason():
            return Stop(reason)
        batch = self._source.next_batch()
        if isinstance(batch, Stop) or any(self._left_out.isdisjoint(match.policies) for match in batch):
            return self._enter(batch)
        return Stop(SUSPENDED)

    def _enter(self, batch: list[Match] | Stop) -> list[Match] | Stop:
        if isinstance(batch, Stop):
            return batch
        for match in batch:
            rated = self._contest.rated(match.policies)
            self._rule.schedule(rated)
            for name in self._scheduled.keys() & set(rated):
                self._scheduled[name] += 1
        self._until_batch.append({**self._scheduled})
        self._given += len(batch)
        return batch


def with_newcomers(contest: Contest, batches: Iterator[list[Match]], newcomers: Sequence[str]) -> Iterator[list[Match]]:
    """Yields the matches of the batches with a newcomer on a rated seat, renumbered from 0.

    They use the same deals as the matches of the other policies.
    """
    number = 0
    for batch in batches:
        kept = []
        for match in batch:
            if not set(newcomers).isdisjoint(contest.rated(match.policies)):
                kept.append(replace(match, number=number))
                number += 1
        if kept:
            yield kept


class Phases:
    """A schedule that chains several schedules, with continuous match numbers.

    Every phase gets all outcomes, since the opponents of newcomers are rated by earlier matches.

    Args:
        phases: schedules, each numbered from 0.

    Attributes:
        starts: number of the first match of each begun phase after the first.
    """

    def __init__(self, phases: Sequence[Until]) -> None:
        self._phases = phases
        self._current = 0
        self._scheduled = 0
        self.starts: list[int] = []

    @property
    def lag(self) -> int:
        """Maximum number of concurrent batches."""
        return self._phases[self._current].lag

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next complete batch."""
        for phase in self._phases:
            phase.add(outcomes)

    def leave_out(self, policy: str) -> None:
        """Excludes a policy."""
        for phase in self._phases:
            phase.leave_out(policy)

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch of the current or a later phase, or the last phase's reason to stop."""
        batch = self._phases[self._current].next_batch()
        while isinstance(batch, Stop) and self._current + 1 < len(self._phases):
            self._current += 1
            self.starts.append(self._scheduled)
            batch = self._phases[self._current].next_batch()
        if isinstance(batch, Stop):
            return batch
        start = self.starts[-1] if self.starts else 0
        self._scheduled += len(batch)
        return [replace(match, number=start + match.number) for match in batch]
