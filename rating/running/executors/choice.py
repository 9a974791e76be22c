"""Which executor plays a match."""

import os

from rating.records.match import Match
from rating.running.executors.executor import Executor
from rating.running.executors.here import AsyncExecutor
from rating.running.executors.process import ProcessExecutor
from rating.running.executors.ray import RayExecutor, check_ray
from rating.running.executors.workers import WorkersExecutor
from rating.running.players import Players
from rating.running.run_file import RunConfig
from rating.running.session import Session
from rating.running.slots import Slots
from rating.running.workers.coordination import Coordination, News, check_shared

MATCHES_OFFERED = 1_024
"""Matches that are offered to workers at once, as long as they cannot hold half of them."""

MOST_OFFERED = 65_536
"""Matches that are offered at once at most, however many workers there are."""

MATCHES_AT_DESK = 1_000
"""Matches at once that wait for people at a desk, so that none of them holds up those of the others."""


def check_executor(executor: str, *, shared: bool) -> None:
    """Checks that matches can be played where a run says, before anything is made or changed.

    Args:
        executor: as ``--executor`` has it.
        shared: whether the run is where workers can join it.

    Raises:
        OptionError: if they cannot.
    """
    check_shared(executor, shared=shared)
    if executor == "ray":
        check_ray()


class Executors:
    """The executors of a process that plays matches of a run.

    Args:
        config: the run.
        players: where environments and policies come from; whoever made them closes them.
        session: what holds for this go.
        coordination: by which matches are offered to workers, where the run has it.
    """

    def __init__(
        self, config: RunConfig, players: Players, session: Session, coordination: Coordination | None = None
    ) -> None:
        self._config = config
        self._players = players
        self._here = AsyncExecutor(config, players, self._slots(config.concurrency))
        self._people = AsyncExecutor(config, players, self._slots(1 if session.desk is None else MATCHES_AT_DESK))
        self._name = session.executor or config.executor
        self._pool: ProcessExecutor | RayExecutor
        if self._name == "ray":
            self._pool = RayExecutor(config, self._slots(1))
        else:
            self._pool = ProcessExecutor(config, self._slots(config.workers or os.cpu_count() or 1))

        self._workers = (
            WorkersExecutor(coordination, players, self._slots(MATCHES_OFFERED))
            if coordination is not None and coordination.offers
            else None
        )

    @property
    def _pools_scripted(self) -> bool:
        return self._name in ("process", "ray") or (self._name == "auto" and self._config.workers != 1)

    @property
    def are_elsewhere(self) -> bool:
        """Whether matches are played by workers that have joined, all but those of people."""
        return self._workers is not None

    @property
    def computing(self) -> int:
        """How many matches of scripted policies gain from being under way at once: this process computes one at a time."""
        return self._pool.slots.count if self._pools_scripted else 1

    @property
    def asking(self) -> int:
        """How many matches can be under way at once that wait for somebody over a network."""
        return self._here.slots.count

    def recall(self, policy: str) -> None:
        """Takes back what is offered of the matches of a policy."""
        if self._workers is not None:
            self._workers.recall(policy)

    def stop(self, error: Exception) -> None:
        """Lets workers come to the end of their turns; here ``Halt`` does that."""
        if self._workers is not None:
            self._workers.stop(error)

    def hear(self, news: News) -> None:
        """Takes what has become of matches that are offered."""
        if self._workers is not None:
            self._workers.hear(news)
            if news.capacity is not None:  # what they hold, and as much again from which they claim
                self._workers.slots.widen(min(2 * news.capacity, MOST_OFFERED))

    def fail(self, error: Exception) -> None:
        """Ends every match that is offered with an error."""
        if self._workers is not None:
            self._workers.fail(error)

    @property
    def slots(self) -> int:
        """How many matches can be under way at once for now; a cluster may grow."""
        return sum(executor.slots.count for executor in (self._workers or self._here, self._pool, self._people))

    def of(self, match: Match) -> Executor:
        """Returns where a match is played: one of a person who is waited for, one of models here, a scripted one in the pool.

        The calls of models are limited and counted once a run, so it is this process that makes them, unless workers join.
        """
        if self._players.has_person(match):
            return self._people
        if self._workers is not None:
            return self._workers
        if self._players.uses_service(match):
            return self._here
        pooled = self._name in ("process", "ray") or (self._pools_scripted and self._players.is_scripted(match))
        return self._pool if pooled else self._here

    async def close(self) -> None:
        """Stops the workers."""
        await self._pool.close()

    def _slots(self, count: int) -> Slots:
        return Slots(count, [item.name for item in self._config.environment])
