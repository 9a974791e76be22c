"""What a sandbox is given and what it returns: the same for every backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

from llmarena_envs.core.errors import ArenaError

Status = Literal["ok", "error", "timeout", "memory", "output", "killed", "refused"]
Answer = Literal["returned", "raised", "unreadable", "missing"]


class SandboxError(ArenaError):
    """A sandbox that does not exist, or cannot isolate on this machine; the message says what to do."""


@dataclass(frozen=True)
class Limits:
    """What a program may use. It may not write files, start programs or reach a network, whatever the limits.

    Attributes:
        seconds: of wall time, for the program and all calls together.
        cpu_seconds: of processor time, all threads together; rounded up to whole seconds.
        memory: bytes of address space.
        output: bytes printed, standard output and error together.
        values: bytes of the returned values, as JSON, all together.
        open_files: file descriptors.
        program: characters of the program and the calls.
    """

    seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory: int = 512 * 2**20
    output: int = 64 * 2**10
    values: int = 256 * 2**10
    open_files: int = 64
    program: int = 2**20

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 2**40:
                raise ValueError(f"limit {entry.name}: expected a number above 0 and below 2^40, got {value!r}")


@dataclass(frozen=True)
class Value:
    """What came of one call.

    Attributes:
        answer: "returned"; "raised" an exception; "unreadable": returned what is no plain data, or too large or deep;
            "missing": the run ended before.
        value: what was returned: None, bool, int, float, complex, str, bytes, a bytearray, range, deque, Decimal, Fraction,
            date or timedelta, or a list, tuple, dict, set or frozenset of them. Objects of subclasses of the built-in types come
            back as the plain type, so none of their methods is ever called outside.
        detail: the exception or the reason in one line; empty for a returned value.
    """

    answer: Answer
    value: Any = None
    detail: str = ""


@dataclass(frozen=True)
class Result:
    """What came of a run.

    Attributes:
        status: "ok": the program came to its end and answered every call; "error": it raised, left before its end, or wrote
            where it must not; "timeout" of wall or processor time; "memory", "output": the limit was reached; "killed": it or
            the process that watches it was killed from inside; "refused": it was not run.
        output: what was printed, standard output and error in the order of their arrival, undecodable bytes escaped.
        cut: whether more was printed than ``output`` holds.
        seconds: of wall time, start of the interpreter included.
        backend: that ran it.
        in_force: what protects, by subject ("files", "network", ...), in words.
        values: of the calls, in their order.
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
    """Something that runs a program apart from everything else.

    Attributes:
        name: of the backend.
        in_force: what protects, by subject, in words.
    """

    @property
    def name(self) -> str:
        """The backend's name."""
        ...

    @property
    def in_force(self) -> Mapping[str, str]:
        """What protects, by subject."""
        ...

    def run(self, program: str, calls: Sequence[str] = (), limits: Limits = Limits()) -> Result:
        """Runs a Python program and then evaluates expressions in its namespace, one after the other.

        Never raises for what a program does. Can be called from several threads at once.

        Args:
            program: the source. Its ``__name__`` is ``"__main__"`` if there are no calls, ``"solution"`` if there are, as a
                test would import it.
            calls: expressions; ``llmarena_envs.sandbox.call`` writes them.
            limits: what it may use.
        """
        ...
