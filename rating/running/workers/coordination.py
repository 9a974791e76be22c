"""The coordinator's side of a run that several machines play: its lease, its offers and their answers, in a thread of its own."""

import asyncio
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from llmarena_envs.core.options import OptionError
from rating.errors import StoreError
from rating.records.postgres.claims import Claims, Kind
from rating.records.postgres.members import Newcomer, Orders, State
from rating.records.sql import TransactionLost
from rating.records.store import Store
from rating.running.run_directory import require_versions
from rating.running.run_tables import WORKERS

LEASE = 30.0
"""Seconds after which who gave no sign of life is taken for dead, if nothing else is said."""

_BEATS = 4
"""Signs of life in the time of a lease."""

_LONGEST_BEAT = 5.0
"""Seconds between two signs of life at most, and so until an order is obeyed."""

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25
"""Seconds between two looks for answers: short while many come."""

_LOOK_FOR_DEAD = 1.0
"""Seconds between two looks for workers whose lease has run out."""

_LONELY = 15.0
"""Seconds without any worker after which it is said how one joins."""

_log = logging.getLogger(__name__)


class News(NamedTuple):
    """What has become of offers.

    Attributes:
        answers: by the id of the match; empty where workers have died of it.
        withdrawn: ids of the matches that nobody had claimed.
        capacity: matches that all workers can hold together; ``None`` as long as it is what it was.
    """

    answers: Mapping[str, str] = {}
    withdrawn: Iterable[str] = ()
    capacity: int | None = None


def beat_seconds(lease: float) -> float:
    """Returns how many seconds there are between two signs of life."""
    return min(lease / _BEATS, _LONGEST_BEAT)


def newcomer(name: str, executor: str, capacity: int) -> Newcomer:
    """Returns how this process introduces itself."""
    return Newcomer(name, socket.gethostname(), os.getpid(), executor, capacity)


class Coordination:
    """A coordinator's place among those who play a run.

    Args:
        claims: on the matches of the run, over a connection that is used here only; closed with this.
        executor: which one the run has, for people.
        how_to_join: what is said while there is no worker; ``None`` if the coordinator plays all matches itself.
        lease: seconds.

    Attributes:
        identity: under which the coordinator has joined.
        offers: whether others play.
    """

    def __init__(self, claims: Claims, executor: str, how_to_join: str | None, lease: float = LEASE) -> None:
        self._claims = claims
        self._how_to_join = how_to_join
        self.offers = how_to_join is not None
        self._beat = beat_seconds(lease)
        self.identity = claims.coordinate(newcomer("coordinator", executor, 0), lease, alone=how_to_join is None)
        self._thread = threading.Thread(target=self._run, name="coordination", daemon=True)
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._offers: dict[str, Kind] = {}
        self._awaited: dict[str, Kind] = {}
        self._unwanted: dict[str, None] = {}
        self._end: State | None = None
        self._tell: Callable[[News], None] = lambda news: None
        self._fail: Callable[[Exception], None] = lambda error: None
        self._is_stopped = False
        self._pause = _SHORTEST_PAUSE
        self._capacity = 0
        self._next_beat = self._next_look = 0.0
        self._lonely_at = time.monotonic() + _LONELY

    def start(self, tell: Callable[[News], None], fail: Callable[[Exception], None]) -> None:
        """Begins to give signs of life and to look for answers.

        Args:
            tell: told of news in the loop that runs now.
            fail: told there of an error after which there will be none.
        """
        loop = asyncio.get_running_loop()
        self._tell = lambda news: _soon(loop, tell, news)
        self._fail = lambda error: _soon(loop, fail, error)
        self._thread.start()

    def offer(self, match: str, kind: Kind) -> None:
        """Offers a match, by its id."""
        with self._lock:
            self._offers[match] = self._awaited[match] = kind
        self._wake.set()

    def withdraw(self, matches: Iterable[str]) -> None:
        """Takes offers back as soon as nobody holds them; it is told which."""
        with self._lock:
            self._unwanted.update(dict.fromkeys(matches))
        self._wake.set()

    def stop(self) -> None:
        """Lets workers come to the end of their turns and give back what they hold."""
        self._is_stopped = True
        self._next_beat = 0.0
        self._wake.set()

    def close(self, end: State) -> None:
        """Leaves: offers that nobody has claimed are taken back.

        Args:
            end: in which state.
        """
        self._end = end
        self._wake.set()
        if self._thread.ident is None:  # it was never started
            self._leave()
        else:
            self._thread.join()

    def _run(self) -> None:
        try:
            while self._end is None:
                try:
                    is_busy = self._do_what_is_due()
                except TransactionLost:  # so may be what was collected: who claims a match that has ended says so again
                    with self._lock:
                        self._offers = dict(self._awaited)
                    is_busy = True
                self._pause = _SHORTEST_PAUSE if is_busy else min(2 * self._pause, _LONGEST_PAUSE)
                self._wake.wait(self._pause)
                self._wake.clear()
            self._leave()
        except Exception as error:
            self._claims.close()
            self._fail(error)

    def _do_what_is_due(self) -> bool:
        """Says whether there was anything new."""
        is_busy = self.offers and self._exchange()
        now = time.monotonic()
        if now >= self._next_beat:
            self._give_sign()
            self._next_beat = now + self._beat
        if self.offers and now >= self._next_look:
            self._look_after_workers()
            self._next_look = now + _LOOK_FOR_DEAD
        return is_busy

    def _exchange(self) -> bool:
        """Says what is offered, and collects what has become of that; says whether there was anything."""
        with self._lock:
            offers, self._offers = self._offers, {}
            unwanted = dict(self._unwanted)
        if offers:
            self._claims.offer(offers)
        withdrawn = self._claims.withdraw(unwanted) if unwanted else []
        answers = self._claims.answers()
        with self._lock:
            for match in (*withdrawn, *answers):
                self._unwanted.pop(match, None)
                self._awaited.pop(match, None)
        if answers or withdrawn:
            self._tell(News(answers, withdrawn))
        return bool(offers or answers)

    def _give_sign(self) -> None:
        if self._is_stopped:
            self._claims.declare(self.identity, State.STOPPING)
        if self._claims.beat(self.identity).orders in (Orders.REJOIN, Orders.END):
            raise StoreError("another process has begun to coordinate this run")

    def _look_after_workers(self) -> None:
        for death in self._claims.bury():
            _log.warning(
                "worker %s on %s has died: %d matches are offered again, %d calls of models were under way there",
                *death,
            )
        if (capacity := self._claims.capacity()) != self._capacity:
            self._capacity = capacity
            self._tell(News(capacity=capacity))
        if capacity:
            self._lonely_at = time.monotonic() + _LONELY
        elif time.monotonic() >= self._lonely_at:
            self._lonely_at = time.monotonic() + 20 * _LONELY
            _log.warning("matches are offered and nobody plays them; on any machine: %s", self._how_to_join)

    def _leave(self) -> None:
        assert self._end is not None
        try:
            for last in (False, True):
                try:
                    self._claims.withdraw_all()
                    self._claims.leave(self.identity, self._end)
                    return
                except TransactionLost:
                    if last:
                        raise
        finally:
            self._claims.close()


def check_shared(executor: str, *, shared: bool) -> None:
    """Checks that workers, if they shall play, can join: that the run is where several machines write.

    Raises:
        OptionError: if they cannot.
    """
    if executor == WORKERS and not shared:
        raise OptionError(
            "executor: workers join a run whose store is PostgreSQL: begin it with --store postgresql://..., or move it there"
        )


def coordinate(store: Store, executor: str) -> Coordination | None:
    """Joins those who play a run as its coordinator; ``None`` where nobody else can.

    Args:
        store: of the run, whose lock the caller holds.
        executor: what the run says of where matches are played.

    Raises:
        OptionError: if workers shall play and cannot join.
    """
    claims = store.claims()
    check_shared(executor, shared=claims is not None)
    if claims is None:
        return None
    if executor == WORKERS:
        require_versions(store)
        store.unseal()
    how_to_join = f"llmarena work --store URL --run NAME, for {store.name}"
    return Coordination(claims, executor, how_to_join if executor == WORKERS else None)


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[..., None], argument: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call, argument)
