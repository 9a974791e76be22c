"""The signs of life of a worker, given by a thread with a connection of its own: a long turn does not lose its lease."""

import asyncio
import logging
import threading
from collections.abc import Callable

from rating.errors import StoreError
from rating.records.postgres.claims import Claims
from rating.records.postgres.members import Counts, Pulse

_log = logging.getLogger(__name__)


class Heartbeat:
    """Renews the lease of a worker until it is closed.

    Args:
        claims: over a connection that is used here only; closed with this.
        worker: id of the worker.
        seconds: between two signs.
        counts: what it says of itself.
        on_change: told in the loop that runs now when there are other orders.

    Attributes:
        pulse: what the database has said last.

    Raises:
        StoreError: if the first sign cannot be given.
    """

    def __init__(
        self, claims: Claims, worker: str, seconds: float, counts: Callable[[], Counts], on_change: Callable[[], None]
    ) -> None:
        self._claims = claims
        self._worker = worker
        self._seconds = seconds
        self._counts = counts
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._closing = threading.Event()
        self.pulse: Pulse = claims.beat(worker, counts())
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Gives no more signs."""
        self._closing.set()
        self._thread.join()
        self._claims.close()

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            try:
                pulse = self._claims.beat(self._worker, self._counts())
            except StoreError as error:  # the lease may outlast that; if not, the next sign finds out
                _log.warning("the lease cannot be renewed: %s", error)
                continue
            if pulse != self.pulse:
                self.pulse = pulse
                self._loop.call_soon_threadsafe(self._on_change)
