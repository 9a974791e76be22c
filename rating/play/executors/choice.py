"""The choice of an executor for each match."""

import os

from rating.config.run_file import RunConfig
from rating.play.executors.executor import AsyncExecutor, Executor, Slots
from rating.play.executors.process import ProcessExecutor
from rating.play.executors.ray import RayExecutor, check_ray
from rating.play.players import Players
from rating.play.session import Session
from rating.store.records import Match

MATCHES_AT_DESK = 1_000
"""Concurrent matches of the human input queue; high, because a waiting match must not delay others."""


def check_executor(executor: str) -> None:
    """Checks that an executor is available, before anything is made or changed.

    Args:
        executor: value of ``--executor``.

    Raises:
        OptionError: if it is not.
    """
    if executor == "ray":
        check_ray()


class Executors:
    """The executors of a session.

    Args:
        config: the run.
        players: source of environments and policies; the caller closes it.
        session: settings of the session.
    """

    def __init__(self, config: RunConfig, players: Players, session: Session) -> None:
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

    @property
    def _pools_scripted(self) -> bool:
        return self._name in ("process", "ray") or (self._name == "auto" and self._config.workers != 1)

    @property
    def slots(self) -> int:
        """Number of matches that can run at once now; a cluster can grow."""
        return sum(executor.slots.count for executor in (self._here, self._pool, self._people))

    def of(self, match: Match) -> Executor:
        """Returns the executor of a match.

        Matches of people and models run in this process, because calls of models are limited and counted once per run. Others can
        run in the pool.
        """
        if self._players.has_person(match):
            return self._people
        if self._players.uses_service(match):
            return self._here
        pooled = self._name in ("process", "ray") or (self._pools_scripted and self._players.is_scripted(match))
        return self._pool if pooled else self._here

    async def close(self) -> None:
        """Stops the workers."""
        await self._pool.close()

    def _slots(self, count: int) -> Slots:
        return Slots(count, [item.name for item in self._config.environment])
