"""Runner inside the sandbox: watches a child process that executes the program.

This file is passed to ``python -c`` as text. It imports only the standard library and communicates only by its standard streams,
so it works with every backend.

The watcher reads two frames. The first contains the program and its limits. It then starts the program's process, makes its own
memory unreadable to it, and only then reads the second frame: the calls and a nonce. The program's process never has the nonce
or a descriptor of the outer streams, and gets each call only when it is due. The watcher writes two lines that begin with the
nonce: ready, and the final report. Output of the program on its own channel is untrusted data: its values are compared outside,
with values that were never inside.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False  # for type checkers; importing typing would take longer than everything else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ANSWER = 1 << 16
"""Maximum number of bytes per read of a pipe."""
DEEPEST = 100
"""Maximum nesting depth of a returned value."""
MADE: dict[str, Callable[[Any], list[Any]]] = {
    "builtins.range": lambda x: [x.start, x.stop, x.step],
    "builtins.bytearray": lambda x: [bytes(x)],
    "collections.deque": lambda x: [list(x)],
    "decimal.Decimal": lambda x: [str(x)],
    "fractions.Fraction": lambda x: [x.numerator, x.denominator],
    "datetime.date": lambda x: [x.year, x.month, x.day],
    "datetime.timedelta": lambda x: [x.days, x.seconds, x.microseconds],
}
"""Classes of the standard library that count as plain data, and the data to reconstruct their objects."""
CONTAINERS = ((list, "list"), (tuple, "tuple"), (set, "set"), (frozenset, "frozenset"))


class _Unreadable(Exception):
    """A value that is not plain data."""


class Budget:
    """Counts down the size limit of values."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> None:
        """Subtracts bytes; raises if the limit is exceeded."""
        self.left -= size
        if self.left < 0:
            raise _Unreadable("larger than the limit of values")


def encode(value: Any, budget: Budget, depth: int = 0) -> Any:
    """Returns plain data as JSON, with tags for types that JSON lacks; calls no method that a subclass could override."""
    kind = type(value)
    budget.take(4)
    if depth > DEEPEST:
        raise _Unreadable(f"nested deeper than {DEEPEST} levels")
    if value is None or value is True or value is False:
        return value
    if issubclass(kind, int):
        budget.take(int.bit_length(value) // 3)
        if int.bit_length(value) > 14000:
            raise _Unreadable("an integer of more than 4,200 digits")
        return int.__index__(value)
    if issubclass(kind, float):
        budget.take(20)
        return float.__float__(value)
    if issubclass(kind, str):
        budget.take(str.__len__(value))
        return str.__str__(value)
    if issubclass(kind, bytes):
        budget.take(2 * bytes.__len__(value))
        return {"bytes": bytes.__getitem__(value, slice(None)).hex()}
    if issubclass(kind, complex):
        return {"complex": [complex.real.__get__(value), complex.imag.__get__(value)]}
    if issubclass(kind, dict):
        pairs = dict.items(value)
        return {"dict": [[encode(key, budget, depth + 1), encode(item, budget, depth + 1)] for key, item in pairs]}
    for container, tag in CONTAINERS:
        if issubclass(kind, container):
            items = [encode(item, budget, depth + 1) for item in container.__iter__(value)]
            return items if tag == "list" else {tag: items}
    for name, arguments in MADE.items():
        module, _, attribute = name.partition(".")
        if kind is getattr(sys.modules.get(module), attribute, None):
            return {name: [encode(item, budget, depth + 1) for item in arguments(value)]}
    raise _Unreadable(f"an object of class {type.__dict__['__name__'].__get__(kind)[:60]}")


def drop_privileges() -> Any:
    """Drops all capabilities and the right to gain new ones; on Linux only."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux":
        return libc
    if libc.prctl(38, 1, 0, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS
        raise OSError("cannot give up new privileges")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError("cannot give up capabilities")
    return libc


def read_exactly(descriptor: int, size: int) -> bytes:
    """Reads exactly ``size`` bytes; later bytes stay in the pipe."""
    data = b""
    while len(data) < size:
        piece = os.read(descriptor, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def read_frame(descriptor: int) -> Any:
    """Reads a value: eight hexadecimal digits of length, then JSON."""
    return json.loads(read_exactly(descriptor, int(read_exactly(descriptor, 8), 16)))


def write_frame(descriptor: int, value: object) -> None:
    """Writes a value for ``read_frame``."""
    data = json.dumps(value).encode()
    view = memoryview(b"%08x" % len(data) + data)
    while view:
        view = view[os.write(descriptor, view) :]


# The program's process ------------------------------------------------------------------------------------------------------


def set_limit(libc: Any, kind: int, value: int) -> None:
    """Lowers a limit permanently.

    On Linux with the old system calls that only affect this process. The C library uses prlimit, which some sandboxes deny,
    because it also sets limits of other processes.
    """
    if sys.platform != "linux":
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
        return
    import ctypes

    read, write = (97, 160) if os.uname().machine == "x86_64" else (163, 164)  # getrlimit, setrlimit
    pair = (ctypes.c_uint64 * 2)()
    if libc.syscall(read, kind, pair) == 0:
        pair[0] = pair[1] = min(value, pair[1])
        if libc.syscall(write, kind, pair) == 0:
            return
    raise OSError(f"cannot set limit {kind}")


def limit(libc: Any, job: dict[str, Any]) -> None:
    """Sets kernel limits; without capabilities they cannot be raised again."""
    for name, value in (
        ("AS", job["memory"]),
        ("CPU", job["cpu"]),
        ("FSIZE", job["file_size"]),
        ("NOFILE", job["open_files"]),
        ("NPROC", job["tasks"]),
        ("CORE", 0),
        ("MEMLOCK", 0),
        ("MSGQUEUE", 0),
    ):
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None and value is not None:
            set_limit(libc, kind, value)


def described(error: BaseException) -> str:
    """Returns an exception in one line."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__)[:300]


def show(error: BaseException) -> None:
    """Prints a traceback without the runner's own frames."""
    try:
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
    except BaseException:
        print(described(error), file=sys.stderr)


def load(job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Executes the program; returns its namespace and its result."""
    # Includes later imports: a program can exhaust descriptors or memory.
    import atexit
    import linecache
    import random
    import threading
    import types

    random.seed(0)
    module = types.ModuleType(job["name"])
    sys.modules[job["name"]] = module
    sys.argv = ["program.py"]
    source = job["program"]
    linecache.cache["program.py"] = (len(source), None, source.splitlines(True), "program.py")
    space = module.__dict__
    space["__builtins__"] = __builtins__
    try:
        exec(compile(source, "program.py", "exec", dont_inherit=True), space)
        if job["name"] == "__main__":
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
    except SystemExit as error:
        good = error.code in (None, 0)
        return space, {} if good else {"failed": "error", "detail": f"it left with exit code {error.code!r}"[:300]}
    except MemoryError as error:
        return space, {"failed": "memory", "detail": described(error)}
    except BaseException as error:
        show(error)
        return space, {"failed": "error", "detail": described(error)}
    return space, {}


def evaluate(space: dict[str, Any], expression: str, budget: Budget) -> dict[str, Any]:
    """Evaluates a call; returns the answer."""
    try:
        value = eval(compile(expression, "<call>", "eval", dont_inherit=True), space)
        return {"value": encode(value, budget)}
    except _Unreadable as error:
        return {"unreadable": str(error)}
    except MemoryError as error:
        return {"failed": "memory", "detail": described(error)}
    except BaseException as error:
        return {"raised": described(error)}


def be_the_program(libc: Any, job: dict[str, Any], printed: int, asked: int, answered: int) -> None:
    """Runs as the program's process; never returns."""
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (printed, 1), (printed, 2)):
        os.dup2(source, target)
    low, high = sorted((asked, answered))
    for first, last in ((3, low), (low + 1, high), (high + 1, 4096)):
        os.closerange(first, last)
    limit(libc, job)
    if job["count"]:
        os.nice(19)  # the watcher, which counts processes, goes first
    space: dict[str, Any] = {}
    budget = Budget(job["values"])
    try:
        while True:
            question = read_frame(asked)
            if "call" in question:
                answer = evaluate(space, question["call"], budget)
            else:
                space, answer = load(job)
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except BaseException:
                    pass
            write_frame(answered, {**answer, "token": read_frame(asked)})
    except EOFError:
        os._exit(0)
    finally:
        os._exit(1)


# The watcher ----------------------------------------------------------------------------------------------------------------


class _Ended(Exception):
    """The run ended early: status and detail."""


class Watch:
    """Sends questions, collects output and answers, and ends the run at the first limit."""

    def __init__(self, job: dict[str, Any], pid: int, printed: int, asked: int, answered: int) -> None:
        self.job, self.pid = job, pid
        self.printed: int | None = printed
        self.asked, self.answered = asked, answered
        self.deadline = time.monotonic() + job["seconds"]
        self.output, self.cut = b"", False
        self.answers: list[dict[str, Any]] = []
        self.pending = b""
        self.room = job["answers"]
        self.gone: tuple[int, float] | None = None

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Sends a question and returns its answer."""
        token = os.urandom(8).hex()
        try:
            write_frame(self.asked, question)
            write_frame(self.asked, token)
        except OSError:
            pass  # it has exited, which the next read detects
        while True:
            if len(self.pending) >= 8:
                answer = self.parse(token)
                if answer is not None:
                    return answer
            self.wait()

    def parse(self, token: str) -> dict[str, Any] | None:
        """Returns the received answer, None if it is incomplete."""
        try:
            size = int(self.pending[:8], 16)
            if size > self.room:
                raise ValueError
            if len(self.pending) < 8 + size:
                return None
            answer = json.loads(self.pending[8 : 8 + size])
            if answer.pop("token") != token or len(self.pending) > 8 + size:
                raise ValueError
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise _Ended("error", "the program wrote on the channel of the results") from None
        self.pending = b""
        self.room -= size
        return answer

    def wait(self) -> None:
        """Waits for the next event and processes it."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise _Ended("timeout", f"more than {self.job['seconds']:g} s of wall time")
        poll = select.poll()
        for descriptor in (0, self.printed, self.answered):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        step = min(left, 0.02 if self.job["count"] else 1.0)
        ready = {descriptor for descriptor, _ in poll.poll(step * 1000 + 1)}
        if 0 in ready and not os.read(0, 1):
            raise _Ended("killed", "nobody waits for the result")
        if self.printed in ready:
            self.take_output()
        if self.answered in ready:
            data = os.read(self.answered, ANSWER)
            self.pending += data
            if not data:
                self.explain_end()
        if self.job["count"] and sum(name.isdigit() for name in os.listdir("/proc")) > self.job["count"]:
            raise _Ended("killed", f"more than {self.job['count']} processes")

    def take_output(self) -> None:
        """Reads output; raises at the limit."""
        if self.printed is None:
            return
        data = os.read(self.printed, ANSWER)
        room = self.job["output"] - len(self.output)
        self.output += data[:room]
        if not data:
            os.close(self.printed)
            self.printed = None
        elif len(data) > room:
            self.cut = True
            raise _Ended("output", f"more than {self.job['output']} bytes printed")

    def drain(self) -> None:
        """Reads the remaining output."""
        while self.printed is not None and select.select([self.printed], [], [], 0)[0]:
            self.take_output()

    def reap(self) -> None:
        """Ends the program's process."""
        if self.gone is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)

    def explain_end(self) -> None:
        """Raises the reason of a closed channel, from the exit status."""
        until = min(self.deadline, time.monotonic() + 0.5)
        while self.gone is None and time.monotonic() < until:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.gone = (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)
            else:
                time.sleep(0.005)
        if self.gone is None:
            raise _Ended("error", "the program closed the channel of the results")
        code, cpu = self.gone
        if code == -9 and cpu > self.job["cpu"] - 0.5:
            raise _Ended("timeout", f"more than {self.job['cpu']} s of processor time")
        if code < 0:
            raise _Ended("killed", f"it ended by signal {-code}")
        raise _Ended("error", f"it left before its end, with exit code {code}")

    def run(self, calls: list[str]) -> tuple[str, str]:
        """Runs everything; returns status and detail."""
        try:
            answer = self.ask({})
            for call in calls:
                if "failed" in answer:
                    break
                answer = self.ask({"call": call})
                if "failed" not in answer:
                    self.answers.append(answer)
            self.drain()
            if "failed" in answer:
                return ("memory" if answer["failed"] == "memory" else "error"), str(answer.get("detail", ""))[:400]
        except _Ended as end:
            status, detail = end.args
            if status != "output":
                try:
                    self.drain()
                except _Ended:
                    pass
            return status, detail
        return "ok", ""


def close_watcher(libc: Any) -> None:
    """Makes memory and descriptors of this process inaccessible to the program; raises if that fails."""
    if libc.prctl(4, 0, 0, 0, 0) == 0 and libc.prctl(3, 0, 0, 0, 0) == 0:  # PR_SET_DUMPABLE, PR_GET_DUMPABLE
        return
    # sandlock reserves that setting. Then it must deny every call that accesses another process.
    import ctypes

    numbers = {
        "ptrace": (101, 117),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "kcmp": (312, 272),
    }
    numbers |= {"pidfd_open": (434, 434), "pidfd_getfd": (438, 438)}
    for name, (on_x86, elsewhere) in numbers.items():
        got = libc.syscall(on_x86 if os.uname().machine == "x86_64" else elsewhere, *[-1] * 6)
        if got != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            raise OSError(f"cannot close the watcher to the program: {name} is allowed")
    try:
        os.close(os.open("/proc/self/mem", os.O_RDONLY))
    except OSError:
        return
    raise OSError("cannot close the watcher to the program: /proc can be read")


def tell(nonce: str, text: str) -> None:
    """Writes a line that begins with the nonce, for the reader outside."""
    view = memoryview(f"\n{nonce} {text}\n".encode())
    while view:
        view = view[os.write(1, view) :]


def main() -> None:
    """Reads the job, runs it and reports."""
    os.dup2(1, 2)
    libc = drop_privileges()
    job = read_frame(0)
    printed, asked, answered = os.pipe(), os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        if sys.platform == "linux":
            libc.prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG: ends with its watcher
        be_the_program(libc, job, printed[1], asked[0], answered[1])
    for descriptor in (printed[1], asked[0], answered[1]):
        os.close(descriptor)
    import signal

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN if number != signal.SIGCHLD else signal.SIG_DFL)
        except (OSError, ValueError):
            pass  # SIGKILL, SIGSTOP and signals reserved by the C library
    if sys.platform == "linux":
        close_watcher(libc)
        if os.getpid() != 1:
            libc.prctl(1, 0, 0, 0, 0)  # end of standard input: the outside has exited, the program is killed
    second = read_frame(0)
    tell(second["nonce"], "ready")
    watch = Watch(job, pid, printed[0], asked[1], answered[0])
    status, detail = watch.run(second["calls"])
    watch.reap()
    report = {
        "status": status,
        "detail": detail,
        "output": watch.output.decode("utf-8", "backslashreplace"),
        "cut": watch.cut,
        "answers": watch.answers,
    }
    tell(second["nonce"], json.dumps(report))
    os._exit(0)


if __name__ == "__main__":
    main()
