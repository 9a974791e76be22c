"""The log of calls in PostgreSQL, which several processes write.

A call is entered before it is sent, as if it were lost already; when it has ended what is known of it takes that place, and it
gets a number. Those of one writer are numbered in the order in which they ended, so that who reads on misses none.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Self

from rating.errors import RunError, StoreError
from rating.records.calls import MAX_DAMAGED, Calls, CallWriter, LoggedCall, dump_call, load_call
from rating.records.postgres.members import PRESENT
from rating.records.sql import Row, Sql, TransactionLost, repeated

_TRIES = 3
"""How often the calls are read on whose reading is interrupted."""

_BEGIN = f"""
WITH me AS MATERIALIZED (SELECT id FROM worker WHERE id = ? AND state IN {PRESENT} FOR SHARE)
INSERT INTO call (worker, line) SELECT id, ? FROM me RETURNING id
"""
"""Whoever takes a worker out writes its row first, and so waits for this, or this for that: no call begins unseen."""

_BEGUN = "SELECT id FROM call WHERE worker = ? AND line = ? AND number IS NULL"

_END = """
WITH me AS MATERIALIZED (SELECT id FROM worker WHERE id = ? FOR SHARE)
UPDATE call SET line = ?, number = coalesce(number, (SELECT coalesce(max(number), 0) + 1 FROM call WHERE worker = me.id))
FROM me WHERE call.id = ?
"""

_FURTHER = """
SELECT worker.id, ended.number, ended.line FROM worker JOIN LATERAL (
    SELECT call.number, call.line FROM call WHERE call.worker = worker.id
    AND call.number > coalesce(CAST(CAST(? AS json) ->> worker.id AS bigint), 0) ORDER BY call.number
) AS ended ON TRUE WHERE worker.id <> ?
"""


class CallTable:
    """The calls of a run in a table, which everybody writes who plays it.

    Args:
        sql: a connection to the tables of the run.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def reader(self, but: str) -> Calls:
        """Returns what reads the table, but what one worker has written, by its id."""
        return SharedCalls(self._sql, but)

    def writer(self, worker: str) -> CallWriter:
        """Returns what writes the calls of a worker, by its id."""
        return SharedCallLog(self._sql, worker)


class SharedCalls:
    """The calls of all processes that play a run.

    Args:
        sql: a connection to the tables of the run.
        but: id of a worker whose calls are left out.

    Attributes:
        damage: what is wrong with those that were left out.
    """

    def __init__(self, sql: Sql, but: str = "") -> None:
        self._sql = sql
        self._but = but
        self.damage: list[str] = []
        self._read: dict[str, int] = {}

    def __iter__(self) -> Iterator[LoggedCall]:
        self.damage, self._read = [], {}
        return self.further()

    def go_on_from(self, earlier: Self) -> bool:
        """Goes on behind what another reader has read."""
        self.damage, self._read = earlier.damage, earlier._read
        return True

    def further(self) -> Iterator[LoggedCall]:
        """Yields the calls that have ended since they were read last.

        Raises:
            RunError: if too many of them cannot be read.
        """
        for worker, number, line in self._unread():
            self._read[worker] = number
            try:
                yield load_call(line)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                self.damage.append(f"call {number} of {worker}: {error}")
                if len(self.damage) > MAX_DAMAGED:
                    raise RunError(f"{self._sql.name}: expected a log of calls, but {self.damage[-1]}") from error

    def _unread(self) -> Iterator[Row]:
        """Yields the rows that were not read yet, whose places are kept by who takes them: also over a lost connection."""
        for left in reversed(range(_TRIES)):
            try:
                yield from self._sql.rows(_FURTHER, json.dumps(self._read), self._but)
            except TransactionLost:
                if not left:
                    raise
            else:
                return


class SharedCallLog:
    """Writes down the calls of one process.

    Args:
        sql: a connection to the tables of the run.
        worker: id under which the process has joined.
    """

    def __init__(self, sql: Sql, worker: str) -> None:
        self._sql = sql
        self._worker = worker
        self._open: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)

    def begin(self, logged: LoggedCall) -> None:
        """Enters a call before it is sent.

        Raises:
            StoreError: if that cannot be done, or the worker was taken for dead or the run is over: nobody would count it.
        """
        self._open[logged.key].append(self._enter(dump_call(logged.as_lost())))

    def write(self, logged: LoggedCall) -> None:
        """Enters what is known of a call that has ended, also of one that counted as lost meanwhile.

        Raises:
            StoreError: if that cannot be done.
        """
        line, places = dump_call(logged), self._open[logged.key]
        if not places:  # one out of the cache was never sent
            places.append(self._enter(line))
        repeated(lambda: self._sql.execute(_END, self._worker, line, places[-1]))
        places.pop()
        if not places:
            del self._open[logged.key]

    def _enter(self, line: str) -> int:
        """Enters a call that has not ended and returns its id."""
        begun = {place for places in self._open.values() for place in places}
        is_first = True

        def enter() -> int:
            nonlocal is_first
            lost = [] if is_first else self._sql.all(_BEGUN, self._worker, line)
            is_first = False
            row = next((row for row in lost if row[0] not in begun), None) or self._sql.row(_BEGIN, self._worker, line)
            if row is None:
                raise StoreError(
                    f"{self._sql.name}: no call is begun here any more, since this worker was taken for dead or the run is over"
                )
            place: int = row[0]
            return place

        return repeated(enter)

    def close(self) -> None:
        """Does nothing: the connection belongs to the store."""
