"""The log of calls: one JSON line for every attempt at a model reply, in order of completion.

The log lists everything that was paid for, including calls of unfinished matches.
"""

import io
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, Self

from agents.models.calls import UNKNOWN_TOKENS, Call, CallStatus
from agents.private_file import create_private
from rating.errors import RunError

CALLS = "calls.jsonl"
"""File name of the log in the run directory."""

UNDER_WAY = "calls.open"
"""File name of the list of started calls in the run directory; calls still in flight when the run is killed are lost."""

MAX_LINE = 16_384
"""Maximum length of a line, in bytes."""

MAX_DAMAGED = 100
"""Number of unreadable lines after which a file is rejected."""

_MOST_LINES = 10_000
"""Number of lines in the file of started calls after which it is rewritten with the calls in flight."""

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


class Calls(Protocol):
    """The calls of a run, read one at a time.

    Attributes:
        damage: errors of the calls skipped by the last read.
    """

    damage: list[str]

    def __iter__(self) -> Iterator[LoggedCall]:
        """Yields all calls."""

    def further(self) -> Iterator[LoggedCall]:
        """Yields the calls written since the last read."""

    def go_on_from(self, earlier: Self) -> bool:
        """Continues from the position of another reader; returns ``False`` and does nothing if its log is another one."""


class CallWriter(Protocol):
    """Writes the calls of a process. Written calls survive the end of the process."""

    def begin(self, logged: LoggedCall) -> None:
        """Records a call before it is sent; if the process dies before the call ends, the call is lost."""

    def write(self, logged: LoggedCall) -> None:
        """Records a finished call.

        Raises:
            OSError: if it cannot be written.
            StoreError: if it cannot be written.
        """

    def close(self) -> None:
        """Closes the log."""


class CallStore(Protocol):
    """Storage of the calls of a run."""

    def reader(self) -> Calls:
        """Returns a reader."""

    def writer(self) -> CallWriter:
        """Returns a writer; calls still in flight when an earlier process was killed are recorded as lost."""


class CallFile:
    """The calls of a run in a file next to its database, written by one process.

    Args:
        path: the file; created with the first call.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def reader(self) -> Calls:
        """Returns a reader of the file."""
        return LoggedCalls(self._path)

    def writer(self) -> CallWriter:
        """Returns a writer that appends to the file.

        Raises:
            OSError: if it cannot be written.
        """
        log = CallLog(self._path)
        log.recover()
        return log


class CallLog:
    """Appends to a log with one write per line, so only a crash truncates a line; a truncated last line is removed first.

    Args:
        path: the file; created with the first call.
    """

    def __init__(self, path: Path) -> None:
        self._log = _Lines(path)
        self._open = _OpenCalls(path.with_name(UNDER_WAY))

    def recover(self) -> None:
        """Records as lost the calls in flight when an earlier process was killed.

        Raises:
            OSError: if it cannot be written.
        """
        for lost in self._open.left():
            self._log.append(dump_call(lost))
        self._open.clear()

    def begin(self, logged: LoggedCall) -> None:
        """Records a call before it is sent.

        Raises:
            OSError: if it cannot be written.
        """
        self._open.begin(logged)

    def write(self, logged: LoggedCall) -> None:
        """Appends a call; on return it survives the end of the process.

        Raises:
            OSError: if it cannot be written.
        """
        self._log.append(dump_call(logged))
        self._open.end(logged)  # if killed in between, the call is counted twice rather than never

    def close(self) -> None:
        """Closes the files."""
        self._log.close()
        self._open.close()


class _Lines:
    """A file that lines are appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: io.FileIO | None = None

    def append(self, line: str) -> None:
        if self._file is None:
            with suppress(FileExistsError):
                create_private(self.path)
            self._file = io.FileIO(self.path, "a+")
            _drop_torn_line(self._file)
        data = line.encode() + b"\n"
        if self._file.write(data) < len(data):
            self.close()  # reopening removes the truncated line
            raise OSError(f"{self.path}: no room for the log of calls")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)


class _OpenCalls:
    """The file of started calls: a line with number and call at the start, a line with the number at the end."""

    def __init__(self, path: Path) -> None:
        self._lines = _Lines(path)
        self._begun = self._written = 0
        self._open: dict[int, str] = {}
        self._numbers: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)

    def begin(self, logged: LoggedCall) -> None:
        self._begun += 1
        self._open[self._begun] = line = f"{self._begun} {dump_call(logged.as_lost())}"
        self._append(line)
        self._numbers[logged.key].append(self._begun)

    def end(self, logged: LoggedCall) -> None:
        if numbers := self._numbers.get(logged.key):  # a cached reply was never sent
            number = numbers.pop()
            del self._open[number]
            if not numbers:
                del self._numbers[logged.key]
            self._append(str(number))

    def _append(self, line: str) -> None:
        self._written += 1
        if self._written <= _MOST_LINES:
            self._lines.append(line)
            return
        self._lines.close()
        kept = self._lines.path.with_name(f"{UNDER_WAY}.new")
        kept.unlink(missing_ok=True)
        create_private(kept)
        kept.write_text("".join(f"{line}\n" for line in self._open.values()), encoding="utf-8")
        kept.replace(self._lines.path)
        self._written = len(self._open)

    def left(self) -> list[LoggedCall]:
        """Returns the calls without an end; skips unreadable lines, since a truncated line means the call was not sent."""
        begun: dict[bytes, LoggedCall] = {}
        if not self._lines.path.exists():
            return []
        with self._lines.path.open("rb") as file:
            while line := file.readline(MAX_LINE):
                number, _, call = line.strip().partition(b" ")
                try:
                    if call:
                        begun[number] = load_call(call)
                    else:
                        begun.pop(number, None)
                except (ValueError, TypeError, KeyError, RecursionError):
                    continue
        return list(begun.values())

    def clear(self) -> None:
        self._lines.remove()

    def close(self) -> None:
        """Closes the file, and removes it if every call has ended."""
        if self._open:
            self._lines.close()
        else:
            self._lines.remove()


def _drop_torn_line(file: io.FileIO) -> None:
    end = file.seek(0, io.SEEK_END)
    begin = file.seek(max(0, end - MAX_LINE))
    tail = file.read(end - begin)
    if tail and not tail.endswith(b"\n"):
        last = tail.rfind(b"\n")
        if last >= 0 or begin == 0:
            file.truncate(begin + last + 1)
        else:
            file.write(b"\n")  # longer than ``MAX_LINE``: the reader reports it


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


class LoggedCalls:
    """The calls of a log, read one at a time; none if the file does not exist.

    A truncated last line is ignored. Damaged lines are skipped and reported in ``damage``. ``further`` reads lines added later.

    Args:
        path: the file.

    Attributes:
        damage: line number and error of each line skipped by the last read.
        place: offset after the last line read, in bytes.

    Raises:
        RunError: on reading, if more than ``MAX_DAMAGED`` lines are damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _inode(path)
        self._lines = 0
        self.damage: list[str] = []
        self.place = 0

    def __iter__(self) -> Iterator[LoggedCall]:
        self.damage, self._lines, self.place = [], 0, 0
        return self.further()

    def go_on_from(self, earlier: Self) -> bool:
        """Continues from the position of another reader; returns ``False`` and does nothing if the file was replaced."""
        is_same = earlier._file == self._file and _size(self._path) >= earlier.place
        if is_same:
            self.damage, self._lines, self.place = earlier.damage, earlier._lines, earlier.place
        return is_same

    def further(self) -> Iterator[LoggedCall]:
        """Yields the calls written since the last read."""
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
                    yield load_call(line)
                except (ValueError, TypeError, KeyError, RecursionError) as error:
                    self._note(f"{error}"[:_MAX_TEXT])

    def _note(self, what: str) -> None:
        self.damage.append(f"line {self._lines}: {what}")
        if len(self.damage) > MAX_DAMAGED:
            raise RunError(
                f"{self._path}, line {self._lines}: expected a log of calls, but {what}; put it back, or move it away"
            )


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def load_call(line: str | bytes) -> LoggedCall:
    """Parses a line of the log.

    Raises:
        ValueError: if the line is not a call; also TypeError, KeyError and RecursionError.
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
