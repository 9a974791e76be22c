"""The log of calls in PostgreSQL.

A call is entered before it is sent, as if it were lost already; when it has ended what is known of it takes that place, and it
gets a number. The numbers are in the order in which calls ended, so that who reads on misses none.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Self

from rating.errors import RunError
from rating.records.calls import MAX_DAMAGED, Calls, CallWriter, LoggedCall, dump_call, load_call
from rating.records.sql import Row, Sql, TransactionLost, repeated

_TRIES = 3
"""How often the calls are read on whose reading is interrupted."""

_BEGIN = "INSERT INTO call (line) VALUES (?) RETURNING id"

_BEGUN = "SELECT id FROM call WHERE line = ? AND number IS NULL"

_END = (
    "UPDATE call SET line = ?, number = coalesce(number, (SELECT coalesce(max(number), 0) + 1 FROM call)) WHERE id = ?"
)

_LOSE = """
UPDATE call SET number = known.last + ended.place
FROM (SELECT coalesce(max(number), 0) AS last FROM call) AS known,
    (SELECT id, row_number() OVER (ORDER BY id) AS place FROM call WHERE number IS NULL) AS ended
WHERE call.id = ended.id
"""

_FURTHER = "SELECT number, line FROM call WHERE number > ? ORDER BY number"


class CallTable:
    """The calls of a run in a table, which one process writes.

    Args:
        sql: a connection to the tables of the run.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def reader(self) -> Calls:
        """Returns what reads the table."""
        return TableCalls(self._sql)

    def writer(self) -> CallWriter:
        """Returns what writes into the table; the caller holds the lock of the run."""
        repeated(lambda: self._sql.execute(_LOSE))
        return TableCallLog(self._sql)


class TableCalls:
    """The calls of a run.

    Args:
        sql: a connection to the tables of the run.

    Attributes:
        damage: what is wrong with those that were left out.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self.damage: list[str] = []
        self._read = 0

    def __iter__(self) -> Iterator[LoggedCall]:
        self.damage, self._read = [], 0
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
        for number, line in self._unread():
            self._read = number
            try:
                yield load_call(line)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                self.damage.append(f"call {number}: {error}")
                if len(self.damage) > MAX_DAMAGED:
                    raise RunError(f"{self._sql.name}: expected a log of calls, but {self.damage[-1]}") from error

    def _unread(self) -> Iterator[Row]:
        """Yields the rows that were not read yet, whose numbers are kept by who takes them: also over a lost connection."""
        for left in reversed(range(_TRIES)):
            try:
                yield from self._sql.rows(_FURTHER, self._read)
            except TransactionLost:
                if not left:
                    raise
            else:
                return


class TableCallLog:
    """Writes down the calls of one process.

    Args:
        sql: a connection to the tables of the run.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._open: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)

    def begin(self, logged: LoggedCall) -> None:
        """Enters a call before it is sent.

        Raises:
            StoreError: if that cannot be done.
        """
        self._open[logged.key].append(self._enter(dump_call(logged.as_lost())))

    def write(self, logged: LoggedCall) -> None:
        """Enters what is known of a call that has ended.

        Raises:
            StoreError: if that cannot be done.
        """
        line, places = dump_call(logged), self._open[logged.key]
        if not places:  # one out of the cache was never sent
            places.append(self._enter(line))
        repeated(lambda: self._sql.execute(_END, line, places[-1]))
        places.pop()
        if not places:
            del self._open[logged.key]

    def _enter(self, line: str) -> int:
        """Enters a call that has not ended and returns its id."""
        begun = {place for places in self._open.values() for place in places}
        is_first = True

        def enter() -> int:
            nonlocal is_first
            lost = [] if is_first else self._sql.all(_BEGUN, line)
            is_first = False
            row = next((row for row in lost if row[0] not in begun), None) or self._sql.row(_BEGIN, line)
            assert row is not None
            place: int = row[0]
            return place

        return repeated(enter)

    def close(self) -> None:
        """Does nothing: the connection belongs to the store."""
