"""Inputs and results of a sandbox, common to all backends, and the strict parsing of results: a program can forge them."""

import ast
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol

from llmarena_envs.core.errors import ArenaError

Status = Literal["ok", "error", "timeout", "memory", "output", "killed", "refused"]
Answer = Literal["returned", "raised", "unreadable", "missing"]

MAX_DETAIL = 400
"""Maximum number of characters of an explanation."""
MAX_ALIKE = 50
"""Maximum number of members of a set or dict with the same hash; building it takes quadratic time in their number."""

DATA: tuple[type, ...] = (
    *(type(None), bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range),
    *(deque, Decimal, Fraction, date, timedelta),
)
"""Types of values that a program can return."""


class SandboxError(ArenaError):
    """A sandbox that does not exist, or cannot isolate on this machine; the message names a remedy."""


@dataclass(frozen=True)
class Limits:
    """Resource limits of a program. Network access is always forbidden; starting programs and writing files unless ``processes``.

    Attributes:
        seconds: wall time in seconds, for the program and all calls in total.
        cpu_seconds: processor time in seconds, all threads in total; rounded up to whole seconds.
        memory: bytes of address space.
        output: bytes printed, standard output and error in total.
        values: bytes of all returned values, as JSON.
        open_files: number of file descriptors.
        program: characters of the program and the calls.
        processes: number of processes that the program may start, at a time. With any, it can run bash and coreutils, and write
            to ``/etc``, ``/home`` and ``/tmp``, 1 MiB each, in memory; see ``find_shell``.
    """

    seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory: int = 512 * 2**20
    output: int = 64 * 2**10
    values: int = 256 * 2**10
    open_files: int = 64
    program: int = 2**20
    processes: int = 0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name == "processes" and value == 0:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 2**40:
                raise ValueError(f"limit {entry.name}: expected a number above 0 and below 2^40, got {value!r}")


@dataclass(frozen=True)
class Value:
    """The result of one call.

    Attributes:
        answer: "returned"; "raised" an exception; "unreadable": returned a value that is not plain data, or too large or deep;
            "missing": the run ended before.
        value: the returned value: None, bool, int, float, complex, str, bytes, a bytearray, range, deque, Decimal, Fraction,
            date or timedelta, or a list, tuple, dict, set or frozenset of them. Objects of subclasses of built-in types are
            converted to the plain type, so none of their methods is ever called outside.
        detail: the exception or the reason in one line; empty for a returned value.
    """

    answer: Answer
    value: Any = None
    detail: str = ""


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes:
        status: "ok": the program came to its end and answered every call; "error": it raised, exited early, or wrote to a
            forbidden channel; "timeout" of wall or processor time; "memory", "output": the limit was reached; "killed": it or
            its watcher process was killed from inside; "refused": it was not run.
        output: printed text, standard output and error in order of arrival, undecodable bytes escaped.
        cut: whether ``output`` is truncated.
        seconds: wall time in seconds, including the start of the interpreter.
        backend: name of the backend.
        in_force: protections in force, by subject ("files", "network", ...), in words.
        values: results of the calls, in order.
        detail: why the status is not "ok", in one line.
    """

    status: Status
    output: str
    cut: bool
    seconds: float
    backend: str
    in_force: Mapping[str, str]
    values: tuple[Value, ...] = ()
    detail: str = ""


class Sandbox(Protocol):
    """Runs programs in isolation.

    Attributes:
        name: name of the backend.
        in_force: protections in force, by subject, in words.
    """

    @property
    def name(self) -> str:
        """The backend's name."""
        ...

    @property
    def in_force(self) -> Mapping[str, str]:
        """The protections in force, by subject."""
        ...

    def run(self, program: str, calls: Sequence[str] = (), limits: Limits = Limits()) -> Result:
        """Runs a Python program and then evaluates expressions in its namespace, in order.

        Never raises because of the program. Thread-safe.

        Args:
            program: the source. Its ``__name__`` is ``"__main__"`` if there are no calls, else ``"solution"``, as if
                a test imported it.
            calls: expressions; see ``llmarena_envs.sandbox.call``.
            limits: resource limits.
        """
        ...


def call(function: str, *arguments: Any) -> str:
    """Writes a call as an expression: ``call("add", 1, 2)`` is ``"add(1, 2)"``.

    Args:
        function: its name, with dots for an attribute.
        arguments: plain data; a value without a literal raises ``ValueError``.
    """
    if not all(part.isidentifier() for part in function.split(".")):
        raise ValueError(f"expected the name of a function, got {function!r}")
    return f"{function}({', '.join(map(literal, arguments))})"


def literal(value: Any) -> str:
    """Writes plain data as a literal; raises ``ValueError`` for a value without one."""
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise ValueError(f"expected plain data as an argument, got {text[:100]}")
    return text


def read_value(answer: object) -> Value:
    """Parses the result of one call."""
    if isinstance(answer, dict) and len(answer) == 1:
        (kind, held), *_ = answer.items()
        if kind in ("raised", "unreadable") and isinstance(held, str):
            return Value(kind, detail=held[:MAX_DETAIL])
        if kind == "value":
            try:
                return Value("returned", _decode(held))
            except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
                return Value("unreadable", detail=str(error)[:MAX_DETAIL])
    return Value("unreadable", detail="no answer of the runner")


def _floats(held: list[Any]) -> complex:
    real, imaginary = held
    return complex(float(real), float(imaginary))


def _members(held: Iterable[Any]) -> list[Any]:
    """Decodes members of a set or dict."""
    members = [_decode(item) for item in held]
    if max(Counter(map(hash, members)).values(), default=0) > MAX_ALIKE:
        raise ValueError(f"more than {MAX_ALIKE} members of a set or dict share one hash")
    return members


def _made(kind: Callable[..., Any], argument: type) -> Callable[[Any], Any]:
    """Returns a function that reconstructs an object from arguments of one type; other types could exhaust the memory."""

    def make(held: Any) -> Any:
        arguments = [_decode(item) for item in held]
        if any(type(item) is not argument for item in arguments):
            raise ValueError("no tag of the runner")
        return kind(*arguments)

    return make


_TAGS: Mapping[str, Callable[[Any], Any]] = {
    "builtins.range": _made(range, int),
    "builtins.bytearray": _made(bytearray, bytes),
    "collections.deque": _made(deque, list),
    "decimal.Decimal": _made(Decimal, str),
    "fractions.Fraction": _made(Fraction, int),
    "datetime.date": _made(date, int),
    "datetime.timedelta": _made(timedelta, int),
    "bytes": bytes.fromhex,
    "complex": _floats,
    "tuple": lambda held: tuple(_decode(item) for item in held),
    "set": lambda held: set(_members(held)),
    "frozenset": lambda held: frozenset(_members(held)),
    "dict": lambda held: dict(zip(_members(key for key, _ in held), (_decode(item) for _, item in held), strict=True)),
}


def _decode(held: object) -> Any:
    """Decodes a tagged JSON value."""
    if isinstance(held, list):
        return [_decode(item) for item in held]
    if isinstance(held, dict):
        (tag, inner), *more = held.items()
        if more or tag not in _TAGS:
            raise ValueError("no tag of the runner")
        return _TAGS[tag](inner)
    return held


def read_report(line: bytes) -> dict[str, Any] | None:
    """Parses the runner's report; None if it is invalid."""
    try:
        report = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return report if isinstance(report, dict) else None
