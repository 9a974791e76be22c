"""Phases: those who come later play after those who were there before, whose schedule stays as it is."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.batches import Contest
from rating.schedules.schedule import Stop
from rating.schedules.until import Until


def with_newcomers(contest: Contest, batches: Iterator[list[Match]], newcomers: Sequence[str]) -> Iterator[list[Match]]:
    """Yields those matches of the batches in which a newcomer is compared, numbered from 0.

    They are on the deals on which the others have played.
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
    """The schedule that goes through one schedule after the other, with numbers that go on.

    Every one of them is told of all outcomes, since whom newcomers meet has been rated before.

    Args:
        phases: the schedules, each with its own numbers from 0.

    Attributes:
        starts: number of the first match of each phase begun so far but the first.
    """

    def __init__(self, phases: Sequence[Until]) -> None:
        self._phases = phases
        self._current = 0
        self._scheduled = 0
        self.starts: list[int] = []

    @property
    def lag(self) -> int:
        """How many batches may be under way with the next one."""
        return self._phases[self._current].lag

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch."""
        for phase in self._phases:
            phase.add(outcomes)

    def leave_out(self, policy: str) -> None:
        """Waits no longer for a policy."""
        for phase in self._phases:
            phase.leave_out(policy)

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch of this phase or the one after, or why there is none in the last one."""
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
