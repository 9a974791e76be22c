"""Phases: newcomers play after the original policies, whose schedule stays the same."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rating.schedules.batches import Contest
from rating.schedules.schedule import Stop
from rating.schedules.until import Until
from rating.store.match import Match
from rating.store.outcome import Outcome


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
