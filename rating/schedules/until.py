"""A sequence of batches that ends when a rule says so."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.batches import Contest
from rating.schedules.schedule import Stop

SUSPENDED = "suspended"
"""Why a schedule stops for which nobody is left who could play."""


class Rule(Protocol):
    """When the matches of an environment suffice, folded: no call costs more as the run grows."""

    def schedule(self, policies: Iterable[str]) -> None:
        """Takes the policies on the rated seats of a match that is going to be played."""

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next matches, in match-number order, void ones included."""

    def leave_out(self, policy: str) -> None:
        """Waits no longer for a policy; one that is not under test changes nothing."""

    def reason(self) -> str:
        """Returns the name of the reason to stop, or an empty string to go on; somebody is left to wait for."""


class Until:
    """The schedule that plays batches until a rule fires.

    The rule is asked before every batch. It knows the outcomes up to ``lag`` batches before that one, and which matches
    were scheduled: so a limit on scheduled matches holds exactly, while with a lag of 2 the batch after the one that
    satisfied the rule is played too. Where a batch would have no match without a policy that is left out, as when everybody
    needs the opponent that is, the schedule stops with the reason ``suspended``.

    Args:
        contest: what is scheduled.
        batches: of matches, without end.
        rule: when to stop.
        lag: as in ``rating.schedules.schedule.Schedule``.
    """

    def __init__(self, contest: Contest, batches: Iterator[list[Match]], rule: Rule, lag: int) -> None:
        self.lag = lag
        self._contest = contest
        self._batches = batches
        self._rule = rule
        self._left_out: set[str] = set()
        self._stop: Stop | None = None

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch."""
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
        self._rule.leave_out(policy)

    def _choose(self) -> list[Match] | Stop:
        if self._left_out.issuperset(self._contest.policies):
            return Stop(SUSPENDED)
        if reason := self._rule.reason():
            return Stop(reason)
        batch = next(self._batches)
        if not any(self._left_out.isdisjoint(match.policies) for match in batch):
            return Stop(SUSPENDED)
        for match in batch:
            self._rule.schedule(self._contest.rated(match.policies))
        return batch
