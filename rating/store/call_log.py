"""The log of calls: a row for every attempt at a model reply, in order of completion.

The log lists everything that was paid for, including calls of unfinished matches.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from sqlalchemy import bindparam, case, func, insert, select, update

from rating.errors import RunError
from rating.store.calls import LoggedCall, dump_call, load_call
from rating.store.engine import Database, Row, TransactionLost, repeated
from rating.store.schema import call

MAX_DAMAGED = 100
"""Number of unreadable calls after which a log is rejected."""

_TRIES = 3
"""Maximum number of attempts at an interrupted read."""

_NEXT_NUMBER = select(func.max(call.c.number) + 1).scalar_subquery()

_BEGIN = insert(call).values(number=0, line=bindparam("line")).returning(call.c.id)
_BEGUN = select(call.c.id).where(call.c.line == bindparam("line"), call.c.number == 0)
_IN_FLIGHT = select(call.c.id).where(call.c.number == 0).order_by(call.c.id)
_END = (
    update(call)
    .where(call.c.id == bindparam("call"))
    .values(line=bindparam("line"), number=case((call.c.number == 0, _NEXT_NUMBER), else_=call.c.number))
)
_LOSE = update(call).where(call.c.id == bindparam("call"), call.c.number == 0).values(number=_NEXT_NUMBER)
_FURTHER = select(call.c.number, call.c.line).where(call.c.number > bindparam("last")).order_by(call.c.number)


class Calls:
    """The ended calls of a run, in order of completion.

    A call has a row before it is sent. When it ends, its row gets a number, so a reader that continues after the last number
    misses no call.

    Args:
        db: a connection to the tables of the run.

    Attributes:
        damage: errors of the skipped calls.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self.damage: list[str] = []
        self._read = 0

    def __iter__(self) -> Iterator[LoggedCall]:
        """Yields all calls."""
        self.damage, self._read = [], 0
        return self.further()

    def go_on_from(self, earlier: "Calls") -> None:
        """Continues from the position of another reader."""
        self.damage, self._read = earlier.damage, earlier._read

    def further(self) -> Iterator[LoggedCall]:
        """Yields the calls that ended since the last read.

        Raises:
            RunError: if more than ``MAX_DAMAGED`` calls are damaged.
        """
        for number, line in self._unread():
            self._read = number
            try:
                yield load_call(line)
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                self.damage.append(f"call {number}: {error}"[:300])
                if len(self.damage) > MAX_DAMAGED:
                    raise RunError(f"{self._db.name}: expected a log of calls, but {self.damage[-1]}") from error

    def _unread(self) -> Iterator[Row]:
        """Yields the unread rows, also after a lost connection; the caller must update ``_read``."""
        for left in reversed(range(_TRIES)):
            try:
                yield from self._db.rows(_FURTHER, {"last": self._read})
            except TransactionLost:
                if not left:
                    raise
            else:
                return


class CallLog:
    """Writes the calls of one process, which must hold the lock of the run. Written calls survive the end of the process.

    Calls that were in flight when an earlier process was killed are recorded as lost.

    Args:
        db: a connection to the tables of the run.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._open: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        for (place,) in self._db.all(_IN_FLIGHT):
            repeated(partial(self._db.execute, _LOSE, {"call": place}))

    def begin(self, logged: LoggedCall) -> None:
        """Records a call before it is sent; if the process dies before the call ends, the call is lost.

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
        repeated(lambda: self._db.execute(_END, {"call": places[-1], "line": line}))
        places.pop()
        if not places:
            del self._open[logged.key]

    def _enter(self, line: str) -> int:
        """Inserts a call in flight and returns its id."""
        begun = {place for places in self._open.values() for place in places}
        is_first = True

        def enter() -> int:
            nonlocal is_first
            lost = [] if is_first else self._db.all(_BEGUN, {"line": line})
            is_first = False
            row = next((row for row in lost if row[0] not in begun), None) or self._db.row(_BEGIN, {"line": line})
            assert row is not None
            place: int = row[0]
            return place

        return repeated(enter)
