"""Inputs and results of a sandbox, common to all backends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

from llmarena_envs.core.errors import ArenaError

Status = Literal["ok", "error", "timeout", "memory", "output", "killed", "refused"]
Answer = Literal["returned", "raised", "unreadable", "missing"]


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
