"""A cluster that is simulated on one machine: workers that claim matches of a run in PostgreSQL and record replies of models.

The claims, the leases, the fenced writes and the answers are those of a run; what is simulated is what is far away: every round
trip to the database takes a little longer, and every reply of a model as long as replies take. Nobody computes a move: a match
goes like one that was played before.
"""

import heapq
import itertools
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.performance.filling import Copies
from rating.errors import ClaimLost, StoreError
from rating.records.match import Match
from rating.records.postgres.address import parse_address
from rating.records.postgres.calls import CallTable
from rating.records.postgres.claims import Claims, guard
from rating.records.postgres.connection import Postgres
from rating.records.postgres.members import Counts, Newcomer, Orders
from rating.records.sql import Row
from rating.records.store import Store
from rating.running.executors.executor import Played
from rating.running.executors.workers import dump_answer
from rating.running.workers.coordination import beat_seconds

LEASE = 4.0
"""Seconds after which a simulated worker that says nothing is taken for dead."""

_PAUSE = 0.02
"""Seconds after which a worker that found nothing looks again."""


@dataclass(frozen=True)
class Machine:
    """Workers that are one process.

    Attributes:
        name: of the machine.
        url: of the database.
        run: name of the run in it.
        workers: how many.
        slots: matches that each plays at once.
        group: matches that are claimed at once, at most.
        trip: seconds that are added to every round trip.
        reply: median seconds of a reply; 0 if matches are answered as soon as they are claimed.
        spread: standard deviation of the logarithm of these seconds.
        notes: file into which it writes what happens as it happens.
        records: whether turns and outcomes are recorded; if not, a match is answered as soon as it is claimed.
    """

    name: str
    url: str
    run: str
    workers: int
    slots: int
    group: int
    trip: float
    reply: float
    spread: float
    notes: str
    records: bool = True


class Note(NamedTuple):
    """Something that has happened on a machine.

    Attributes:
        what: ``claim`` with the seconds that it took and the matches that it gave, ``end`` or ``lost`` with the match.
        seconds: as said.
        matches: ids of matches.
        moment: seconds on the clock of the system.
    """

    what: str
    seconds: float
    matches: list[str]
    moment: float


class Distant(Postgres):
    """A connection to a database that is further away.

    Args:
        run: name of the run, in the database of the address.
        trip: seconds that every round trip takes longer.
    """

    def __init__(self, url: str, run: str, trip: float) -> None:
        self._trip = 0.0
        super().__init__(parse_address(url).of(run))
        self._trip = trip

    def execute(self, sql: str, *values: Any) -> int:
        """Executes a statement."""
        time.sleep(self._trip)
        return super().execute(sql, *values)

    def row(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row of a query."""
        time.sleep(self._trip)
        return super().row(sql, *values)

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns the rows of a query that has few."""
        time.sleep(self._trip)
        return super().all(sql, *values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes one transaction of what is executed within."""
        time.sleep(2 * self._trip)  # to begin and to end it
        with super().transaction():
            yield


def run_machine(machine: Machine) -> None:
    """Runs the workers of a machine until the run is over; the target of a process."""
    with Path(machine.notes).open("w", encoding="utf-8", buffering=1) as notes:
        threads = [
            threading.Thread(target=_Worker(machine, number, notes.write).run, name=f"worker {number}")
            for number in range(machine.workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def read_notes(path: Path) -> Iterator[Note]:
    """Yields what happened on a machine; the last line of one that was killed may be missing."""
    for line in path.read_text(encoding="utf-8").splitlines():
        with suppress(ValueError):
            yield Note(*json.loads(line))


class _Worker:
    """One simulated worker."""

    def __init__(self, machine: Machine, number: int, write: Callable[[str], object]) -> None:
        self._machine = machine
        self._name = f"{machine.name}-{number}"
        self._write = write
        self._copies: Copies | None = None
        self._random = random.Random(self._name)
        self._under_way: list[tuple[float, int, Match, int]] = []
        self._order = itertools.count()
        self._played = self._turns = 0

    def run(self) -> None:
        machine = self._machine
        opened = partial(Distant, machine.url, machine.run, machine.trip)
        db = opened()
        store = Store(db, CallTable(db))
        with closing(store), closing(Claims(opened())) as claims, closing(Claims(opened())) as heart:
            identity = claims.join(Newcomer(self._name, machine.name, 0, "simulated", machine.slots), LEASE)
            store.keep_to(lambda sql, match: guard(sql, identity, match))
            self._play(store, claims, heart, identity)
            claims.leave(identity)

    def _play(self, store: Store, claims: Claims, heart: Claims, identity: str) -> None:
        next_beat = 0.0
        while True:
            now = time.monotonic()
            if now >= next_beat:
                orders = heart.beat(identity, Counts(len(self._under_way), self._played, self._turns)).orders
                next_beat = now + beat_seconds(LEASE)
                if orders in (Orders.END, Orders.STOP, Orders.REJOIN):
                    return
            claimed = self._claim(claims, identity) if len(self._under_way) < self._machine.slots else 0
            if not self._under_way:
                time.sleep(0 if claimed else _PAUSE)
            elif self._under_way[0][0] > time.monotonic():
                time.sleep(min(self._under_way[0][0] - time.monotonic(), _PAUSE))
            else:
                self._go_on(store, claims, identity, *heapq.heappop(self._under_way)[2:])

    def _claim(self, claims: Claims, identity: str) -> int:
        most = min(self._machine.group, self._machine.slots - len(self._under_way))
        begin = time.perf_counter()
        found = claims.take(identity, most, most)
        seconds = time.perf_counter() - begin
        if found:
            self._note("claim", [claim.match.id for claim in found], seconds)
        for claim in found:
            if self._machine.records:
                self._wait_for_reply(claim.match, 0)
            else:
                claims.answer(identity, claim.match.id, "{}")
        return len(found)

    def _wait_for_reply(self, match: Match, turn: int) -> None:
        machine = self._machine
        seconds = machine.reply * self._random.lognormvariate(0.0, machine.spread) if machine.reply else 0.0
        heapq.heappush(self._under_way, (time.monotonic() + seconds, next(self._order), match, turn))

    def _go_on(self, store: Store, claims: Claims, identity: str, match: Match, turn: int) -> None:
        """Records a turn of a match, and after the last one what it came to."""
        self._copies = self._copies or Copies(match.options)
        copy = self._copies.of(match)
        assert copy.outcome is not None
        try:
            if turn == 0:
                turn = len(store.turns(match))  # of somebody who has died
            if turn < len(copy.turns):
                store.add_turn(match, copy.turns[turn])
                self._turns += 1
                self._wait_for_reply(match, turn + 1)
                return
            store.finish(match, copy.outcome, digest=copy.digest)
            claims.answer(identity, match.id, dump_answer(Played(copy.outcome, copy.digest)))
            self._played += 1
            self._note("end", [match.id])
        except ClaimLost:
            self._note("lost", [match.id])
        except StoreError as error:
            self._note(f"failed: {error}", [match.id])

    def _note(self, what: str, matches: list[str], seconds: float = 0.0) -> None:
        self._write(json.dumps([what, seconds, matches, time.time()]) + "\n")
