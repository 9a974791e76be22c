"""A worker: waits for a run that several machines play, joins it, and joins again when it goes on or was away."""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from contextlib import closing, suppress

from rating.errors import StoreError
from rating.records.postgres.members import State
from rating.records.sql import Refused
from rating.records.store import Store
from rating.running.run_file import RunConfig
from rating.running.workers.stay import Place, Stay

PATIENCE = 600.0
"""Seconds for which a store is tried again that had answered before, while nothing can be played."""

_LOOK, _LONGEST_LOOK = 1.0, 10.0
"""Seconds between two looks for a coordinator; and at most between two tries to join again after a failure."""

_LONG = 60.0
"""Seconds after which what had failed before has gone well."""

_log = logging.getLogger(__name__)


class NoRunYet(StoreError):
    """The run that a worker shall join is not there; somebody may begin it."""


class Worker:
    """Plays matches of a run until it is over, or the worker is drained.

    Args:
        open_store: opens the store of the run, or raises ``StoreError`` while there is none or no connection.
        read_config: reads the run from it, for a place where models are asked.
        place: how it plays.
        tell: told in words what it is at.

    Attributes:
        is_abandoned: whether it was told to give back what it held.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        read_config: Callable[[Store], RunConfig],
        place: Place,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._open_store = open_store
        self._read_config = read_config
        self._place = place
        self._tell = tell
        self._changed = asyncio.Event()
        self._stay: Stay | None = None
        self._left_behind: list[str] = []
        self._is_draining = False
        self._played = 0
        self.is_abandoned = False

    def drain(self) -> None:
        """Lets it end when it has played what it holds; called again, at once."""
        if self._is_draining:
            self.is_abandoned = True
            if self._stay is not None:
                self._stay.abandon()
        self._is_draining = True
        if self._stay is not None:
            self._stay.look()
        self._changed.set()

    async def run(self) -> None:
        """Plays.

        Raises:
            ProviderError: if a model cannot be asked from here; nothing was claimed.
            OptionError: likewise, e.g. if there is no key for it.
            RunError: if there is no such run, or its store cannot be used for too long.
        """
        failing_since, has_answered, pause = 0.0, False, _LOOK
        while not self._is_draining:
            begin, played_before = time.monotonic(), self._played
            try:
                with closing(self._open_store()) as store:
                    has_answered = True
                    self._leave(store)
                    if not await self._find_coordinator(store):
                        return
                    await self._join(store)
                failing_since, pause = 0.0, _LOOK
            except Refused:
                raise
            except StoreError as error:
                now = time.monotonic()
                if not failing_since or self._played > played_before or now - begin > _LONG:
                    failing_since, pause = now, _LOOK
                is_awaited = isinstance(error, NoRunYet) and not has_answered
                patience = (self._place.idle or math.inf) if is_awaited else PATIENCE * has_answered
                if now - failing_since >= patience:
                    raise
                _log.warning("%s", error)
                await self._pause(pause)
                if not is_awaited:
                    pause = min(2 * pause, _LONGEST_LOOK)

    async def _find_coordinator(self, store: Store) -> bool:
        """Waits until somebody offers matches; says whether anybody does."""
        claims, is_told = store.claims_here(), False
        end = None if self._place.idle is None else time.monotonic() + self._place.idle
        while not self._is_draining:
            found = claims.coordinator()
            if found is not None and found[1] is State.WORKING and found[2]:
                return True
            if found is not None and found[1] is State.OVER:
                self._tell("the run is over")
                return False
            if end is not None and time.monotonic() >= end:
                self._tell(f"nobody has offered a match for {self._place.idle:g} s")
                return False
            if not is_told:
                self._tell("waiting for the run to begin or to go on")
                is_told = True
            await self._pause(_LOOK)
        return False

    async def _join(self, store: Store) -> None:
        """Plays until there is nothing to do for now."""
        self._stay = Stay(store, self._read_config(store), self._place)
        try:
            if await self._stay.play(lambda: self._is_draining, self._tell):
                self._is_draining = True
        finally:
            if not self._stay.has_left:
                self._left_behind.append(self._stay.identity)
            self._played += self._stay.played
            self._stay = None

    def _leave(self, store: Store) -> None:
        """Leaves where it could not say so, as the store was away: what it held is offered again, and is no death."""
        while self._left_behind:
            store.claims_here().leave(self._left_behind[-1])
            self._left_behind.pop()

    async def _pause(self, seconds: float) -> None:
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
