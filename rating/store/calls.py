"""The log of calls: a row for every attempt at a model reply, in order of completion.

The log lists everything that was paid for, including calls of unfinished matches.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import bindparam, case, func, insert, select, update

from agents.models.calls import UNKNOWN_TOKENS, Call, CallStatus
from rating.errors import RunError
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

_MAX_TEXT = 300
_MAX_COUNT = 2**53
_TEXTS = frozenset({"model", "base_url", "agent", "request_id", "error"})
_SECONDS = frozenset({"waited", "latency"})
_DEFAULTS = {item.name: item.default for item in fields(Call) if item.default is not MISSING}
_REQUIRED = frozenset({item.name for item in fields(Call)} - _DEFAULTS.keys())


@dataclass(frozen=True)
class LoggedCall:
    """A call and its context.

    Attributes:
        time: end of the call, in UTC.
        environment: module name; empty for a call outside of matches.
        match: id of the match; empty for a call outside of matches.
        policy: name of the policy.
        call: the call.
    """

    time: datetime
    environment: str
    match: str
    policy: str
    call: Call

    @property
    def key(self) -> tuple[str, str, str]:
        """Key that pairs the start of a call with its end; calls with the same key are interchangeable."""
        return self.match, self.policy, self.call.agent

    def as_lost(self) -> "LoggedCall":
        """Returns the call with status ``LOST`` and unknown token usage."""
        return replace(self, call=replace(self.call, status=CallStatus.LOST, **UNKNOWN_TOKENS))


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
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                self.damage.append(f"call {number}: {error}"[:_MAX_TEXT])
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


def dump_call(logged: LoggedCall) -> str:
    """Returns a call as a line of JSON."""
    call = {name: _plain(value) for name, value in vars(logged.call).items() if value != _DEFAULTS.get(name, ...)}
    table = {
        "time": logged.time.isoformat(timespec="milliseconds"),
        "environment": logged.environment,
        "match": logged.match,
        "policy": logged.policy,
        **call,
    }
    return json.dumps(table, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value[:_MAX_TEXT] if isinstance(value, str) else value


def load_call(line: str) -> LoggedCall:
    """Parses a call.

    Raises:
        ValueError: if it is not a call; also TypeError, KeyError and RecursionError.
    """
    table = json.loads(line)
    if not isinstance(table, dict):
        raise ValueError("expected a JSON object")
    try:
        return _call(table)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def _call(table: dict[str, Any]) -> LoggedCall:
    time = datetime.fromisoformat(_text(table, "time"))
    if time.tzinfo is None:
        raise ValueError("time: expected one with its zone")
    environment, match, policy = (_text(table, name) for name in ("environment", "match", "policy"))
    facts = {name: value for name, value in table.items() if name not in ("time", "environment", "match", "policy")}
    unknown = sorted(facts.keys() - _DEFAULTS.keys() - _REQUIRED)
    if unknown or not facts.keys() >= _REQUIRED:
        raise ValueError(f"unknown keys {unknown}" if unknown else f"expected the keys {sorted(_REQUIRED)}")
    call = Call(**{name: _checked(name, value) for name, value in facts.items()})
    return LoggedCall(time.astimezone(UTC), environment, match, policy, call)


def _text(table: dict[str, Any], name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name}: expected a text")
    return value


def _checked(name: str, value: Any) -> Any:
    """Returns a value of a call, checked for type and range."""
    if name == "status":
        return CallStatus(value)
    if name in _TEXTS:
        is_right = isinstance(value, str)
    elif name in _SECONDS:
        is_right = (
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
        )
    else:
        is_right = (type(value) is int and 0 <= value <= _MAX_COUNT) or (value is None and name != "attempt")
    if not is_right:
        raise ValueError(f"{name}: unexpected value {value!r:.40}")
    return value
