"""A sequence of batches that ends when a rule says so."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.batches import Contest
from rating.schedules.schedule import UNLIMITED, Stop

SUSPENDED = "suspended"
"""Why a schedule stops for which nobody is left who could play."""


ENDED = "ended"
"""Why a schedule stops that ended in an earlier session, after which others came."""


class Source(Protocol):
    """Where batches come from that depend on outcomes."""

    @property
    def is_known(self) -> bool:
        """Whether the next batch depends on no outcome."""

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch, in match-number order, void ones included."""

    def leave_out(self, policy: str) -> None:
        """Plans no more matches of a policy."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch; or why there is none, e.g. since nobody may be scheduled any more."""


class Fixed:
    """Batches that depend on no outcome.

    Args:
        batches: without end.
    """

    is_known = True

    def __init__(self, batches: Iterator[list[Match]]) -> None:
        self._batches = batches

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Changes nothing."""

    def leave_out(self, policy: str) -> None:
        """Changes nothing: the matches of a policy that is left out keep their numbers."""

    def next_batch(self) -> list[Match]:
        """Returns the next batch."""
        return next(self._batches)


class Rule(Protocol):
    """When the matches of an environment suffice, folded: no call costs more as the run grows."""

    @property
    def least(self) -> float:
        """Finished matches of every policy before which nothing but numbers of scheduled matches can be a reason to stop."""

    def schedule(self, policies: Iterable[str]) -> None:
        """Takes the policies on the rated seats of a match that is going to be played."""

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next matches, in match-number order, void ones included."""

    def leave_out(self, policy: str) -> None:
        """Waits no longer for a policy; one that is not under test changes nothing."""

    def reason(self) -> str:
        """Returns the name of the reason to stop, or an empty string to go on; somebody is left to wait for."""

    def stopped_with(self, reason: str) -> str:
        """Returns the values with which the rule fired; at least one policy is waited for.

        Args:
            reason: what ``reason`` returned.
        """

    def reached(self) -> str:
        """Returns the present values beside those asked for; at least one policy is waited for."""


class Until:
    """The schedule that plays batches until a rule fires.

    The rule is asked before every batch. It knows the outcomes up to ``lag`` batches before that one, and which matches
    were scheduled: so a limit on scheduled matches holds exactly, while with a lag of 2 the batch after the one that
    satisfied the rule is played too. Where a batch would have no match without a policy that is left out, as when everybody
    needs the opponent that is, the schedule stops with the reason ``suspended``.

    Args:
        contest: what is scheduled.
        batches: a source of batches that hears outcomes, or fixed ones without end.
        rule: when to stop.
        ahead: the lag where the next batch depends on outcomes; with fixed batches it does not before the rule has its least
            number of matches.
        matches: number of matches at which it ends whatever the rule says, since what comes after them has begun; ``None`` if
            the rule decides.
        begun: number of matches before which it does not end, whatever the rule says, since they were begun under another rule or
            without somebody who was suspended, and their numbers are taken.
    """

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
        """How many batches may be under way with the next one."""
        if not self._source.is_known:
            return self._ahead
        if self._matches is not None:
            return UNLIMITED
        decisive = len(self._until_batch) - self._ahead  # the last batch whose outcomes the next one depends on
        counts = self._until_batch[decisive] if decisive >= 0 else {}
        fewest = min((counts.get(name, 0) for name in self._contest.policies if name not in self._left_out), default=0)
        return UNLIMITED if fewest < self._rule.least else self._ahead

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch."""
        self._source.add(outcomes)
        self._rule.add(outcomes)

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch, or why there is none."""
        if self._stop is None:
            batch = self._choose()
            if not isinstance(batch, Stop):
                return batch
            self._stop = batch
        return self._stop

    def leave_out(self, policy: str) -> None:
        """Waits no longer for a policy."""
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
