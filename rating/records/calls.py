"""The log of calls: one JSON line for every attempt at a reply of a model, in the order in which they ended.

Whoever pays for a run reads here what was paid for: calls of matches that were never finished stand in it like all others.
"""

import io
import json
import math
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.models.calls import Call, CallStatus
from rating.errors import RunError

CALLS = "calls.jsonl"
"""Name of the log in the directory of a run."""

MAX_LINE = 16_384
"""Bytes of a line."""

MAX_DAMAGED = 100
"""Lines that cannot be read, after which a file is taken for none of ours."""

_MAX_TEXT = 300
_MAX_COUNT = 2**53
_TEXTS = frozenset({"model", "base_url", "agent", "request_id", "error"})
_SECONDS = frozenset({"waited", "latency"})
_DEFAULTS = {item.name: item.default for item in fields(Call) if item.default is not MISSING}
_REQUIRED = frozenset({item.name for item in fields(Call)} - _DEFAULTS.keys())


@dataclass(frozen=True)
class LoggedCall:
    """A call, and what it was for.

    Attributes:
        time: when it ended, in UTC.
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


class CallLog:
    """Appends to a log, one write a line, so that no line is torn but by a crash; a torn last line is taken away first.

    Args:
        path: the file; made with the first call.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: io.FileIO | None = None

    def write(self, logged: LoggedCall) -> None:
        """Appends a call; when this returns it survives the end of the process.

        Raises:
            OSError: if it cannot be written.
        """
        if self._file is None:
            self._file = io.FileIO(self._path, "a+")
            _drop_torn_line(self._file)
        line = json.dumps(_table(logged), separators=(",", ":")).encode() + b"\n"
        if self._file.write(line) < len(line):
            raise OSError(f"{self._path}: no room for the log of calls")

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _drop_torn_line(file: io.FileIO) -> None:
    end = file.seek(0, io.SEEK_END)
    begin = file.seek(max(0, end - MAX_LINE))
    tail = file.read(end - begin)
    if tail and not tail.endswith(b"\n"):
        last = tail.rfind(b"\n")
        if last >= 0 or begin == 0:
            file.truncate(begin + last + 1)
        else:
            file.write(b"\n")  # longer than any line of ours: it is left to the reader


def _table(logged: LoggedCall) -> dict[str, Any]:
    call = {name: _plain(value) for name, value in vars(logged.call).items() if value != _DEFAULTS.get(name, ...)}
    return {
        "time": logged.time.isoformat(timespec="milliseconds"),
        "environment": logged.environment,
        "match": logged.match,
        "policy": logged.policy,
        **call,
    }


def _plain(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value[:_MAX_TEXT] if isinstance(value, str) else value


class LoggedCalls:
    """The calls of a log, read one at a time; none where there is no file.

    A torn last line is ignored. Lines that hold something else are left out and named. A log that grows can be read on with
    ``further``.

    Args:
        path: the file.

    Attributes:
        damage: what is wrong with lines that were left out while the log was read last, each with its number.
        place: behind the last line that was read, in bytes.

    Raises:
        RunError: when read, if more than ``MAX_DAMAGED`` lines hold something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        self.damage: list[str] = []
        self.place = 0

    def __iter__(self) -> Iterator[LoggedCall]:
        self.damage, self._lines, self.place = [], 0, 0
        return self.further()

    def further(self) -> Iterator[LoggedCall]:
        """Yields the calls that were written since the log was read last."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self.place)
            while line := file.readline(MAX_LINE):
                whole = line.endswith(b"\n")
                rest = line
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(MAX_LINE)
                if not whole and not rest:
                    return
                self._lines, self.place = self._lines + 1, file.tell()
                try:
                    if not whole:
                        raise ValueError(f"more than {MAX_LINE} bytes")
                    yield _read(line)
                except (ValueError, TypeError, KeyError, RecursionError) as error:
                    self._note(f"{error}"[:_MAX_TEXT])

    def _note(self, what: str) -> None:
        self.damage.append(f"line {self._lines}: {what}")
        if len(self.damage) > MAX_DAMAGED:
            raise RunError(
                f"{self._path}, line {self._lines}: expected a log of calls, but {what}; put it back, or move it away"
            )


def _read(line: bytes) -> LoggedCall:
    table = json.loads(line)
    if not isinstance(table, dict):
        raise ValueError("expected a JSON object")
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
    """Returns a value of a call if it is one that was written."""
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
