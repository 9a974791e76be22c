"""The log of calls in PostgreSQL.

A call is inserted as lost before it is sent. When it ends, its row is updated and gets a number. Numbers are in order of
completion, so a reader that continues after the last number misses no call.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Self

from rating.errors import RunError
from rating.records.calls import MAX_DAMAGED, Calls, CallWriter, LoggedCall, dump_call, load_call
from rating.records.sql import Row, Sql, TransactionLost, repeated

_TRIES = 3
"""Maximum number of attempts at an interrupted read."""

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
    """The calls of a run in a table, written by one process.

    Args:
        sql: a connection to the tables of the run.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def reader(self) -> Calls:
        """Returns a reader of the table."""
        return TableCalls(self._sql)

    def writer(self) -> CallWriter:
        """Returns a writer of the table; the caller must hold the lock of the run."""
        repeated(lambda: self._sql.execute(_LOSE))
        return TableCallLog(self._sql)


class TableCalls:
    """The calls of a run.

    Args:
        sql: a connection to the tables of the run.

    Attributes:
        damage: errors of the skipped calls.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self.damage: list[str] = []
        self._read = 0

    def __iter__(self) -> Iterator[LoggedCall]:
        self.damage, self._read = [], 0
        return self.further()

    def go_on_from(self, earlier: Self) -> bool:
        """Continues from the position of another reader."""
        self.damage, self._read = earlier.damage, earlier._read
        return True

    def further(self) -> Iterator[LoggedCall]:
        """Yields the calls that ended since the last read.

        Raises:
            RunError: if more than ``MAX_DAMAGED`` calls are damaged.
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
        """Yields the unread rows, also after a lost connection; the caller must update ``_read``."""
        for left in reversed(range(_TRIES)):
            try:
                yield from self._sql.rows(_FURTHER, self._read)
            except TransactionLost:
                if not left:
                    raise
            else:
                return


class TableCallLog:
    """Writes the calls of one process.

    Args:
        sql: a connection to the tables of the run.
    """

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._open: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)

    def begin(self, logged: LoggedCall) -> None:
        """Records a call before it is sent.

        Raises:
            StoreError: if it cannot be written.
        """
        self._open[logged.key].append(self._enter(dump_call(logged.as_lost())))

    def write(self, logged: LoggedCall) -> None:
        """Records a finished call.

        Raises:
            StoreError: if it cannot be written.
        """
        line, places = dump_call(logged), self._open[logged.key]
        if not places:  # a cached reply was never sent
            places.append(self._enter(line))
        repeated(lambda: self._sql.execute(_END, line, places[-1]))
        places.pop()
        if not places:
            del self._open[logged.key]

    def _enter(self, line: str) -> int:
        """Inserts an unfinished call and returns its id."""
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
