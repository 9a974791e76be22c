"""Runs inside the sandbox: watches over a process of its own in which the program is executed.

This file is handed to ``python -c`` as text. It imports nothing but the standard library, and speaks with the world outside
by its standard streams only, so that it runs behind every backend.

The watcher reads two frames. The first holds the program and its limits; then it starts the program's process, makes itself
unreadable to it, and only then reads the second: the calls and a nonce. The program's process has never held the nonce, has no
descriptor of the streams that lead outside, and learns of a call when it is asked. What the watcher has to say outside are two
lines that begin with the nonce: that it is ready, and at the end its report. What the program says on its own channel is data:
its values are claims, to be compared outside with values that were never inside.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False  # as type checkers read it; importing typing would take longer than all else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ANSWER = 1 << 16
"""Bytes of a pipe that are read at once."""
DEEPEST = 100
"""Levels of nested containers in a returned value."""
MADE: dict[str, Callable[[Any], list[Any]]] = {
    "builtins.range": lambda x: [x.start, x.stop, x.step],
    "builtins.bytearray": lambda x: [bytes(x)],
    "collections.deque": lambda x: [list(x)],
    "decimal.Decimal": lambda x: [str(x)],
    "fractions.Fraction": lambda x: [x.numerator, x.denominator],
    "datetime.date": lambda x: [x.year, x.month, x.day],
    "datetime.timedelta": lambda x: [x.days, x.seconds, x.microseconds],
}
"""Classes of the standard library whose objects count as data, and from what they are made again."""
CONTAINERS = ((list, "list"), (tuple, "tuple"), (set, "set"), (frozenset, "frozenset"))


class _Unreadable(Exception):
    """A value that is no plain data."""


class Budget:
    """Counts down what a value may take."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> None:
        """Takes bytes; raises if there are not as many left."""
        self.left -= size
        if self.left < 0:
            raise _Unreadable("larger than the limit of values")


def encode(value: Any, budget: Budget, depth: int = 0) -> Any:
    """Returns plain data as JSON with a tag for what JSON has not; uses no method that a subclass could override."""
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
    """Gives up every capability and the right to gain new ones; does nothing where there are none."""
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
    """Reads a number of bytes, no more, so that what follows stays in the pipe."""
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
    """Writes a value as it is read."""
    data = json.dumps(value).encode()
    view = memoryview(b"%08x" % len(data) + data)
    while view:
        view = view[os.write(descriptor, view) :]


# The program's process ------------------------------------------------------------------------------------------------------


def set_limit(libc: Any, kind: int, value: int) -> None:
    """Lowers a limit for good.

    On Linux by the old calls that know no other process than this one; prlimit, which the C library takes, would let a program
    set the limits of its caller too, so that a sandbox may have to deny it.
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
    """Sets the limits of the kernel; without capabilities they cannot be raised again."""
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
    """Executes the program; returns its namespace and what came of it."""
    # All that is needed later too: a program may leave no descriptor or memory to import anything.
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
    """Is the process in which the program is executed; never returns."""
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (printed, 1), (printed, 2)):
        os.dup2(source, target)
    low, high = sorted((asked, answered))
    for first, last in ((3, low), (low + 1, high), (high + 1, 4096)):
        os.closerange(first, last)
    limit(libc, job)
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
    """The run is over before its end: status and detail."""


class Watch:
    """Asks, collects what is printed and answered, and ends the run at the first limit."""

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
        """Puts a question and returns its answer."""
        token = os.urandom(8).hex()
        try:
            write_frame(self.asked, question)
            write_frame(self.asked, token)
        except OSError:
            pass  # it has gone, which the next reading finds
        while True:
            if len(self.pending) >= 8:
                answer = self.parse(token)
                if answer is not None:
                    return answer
            self.wait()

    def parse(self, token: str) -> dict[str, Any] | None:
        """Returns the answer that has arrived, None if it is not complete."""
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
        """Waits until something happens, and takes it in."""
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
        """Reads what was printed; raises at the limit."""
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
        """Takes in what was printed before an end."""
        while self.printed is not None and select.select([self.printed], [], [], 0)[0]:
            self.take_output()

    def reap(self) -> None:
        """Ends the program's process."""
        if self.gone is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)

    def explain_end(self) -> None:
        """The channel was closed: says why, by the kernel's word."""
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
    """Closes memory and descriptors of this process to the program; raises if they stay open."""
    if libc.prctl(4, 0, 0, 0, 0) == 0 and libc.prctl(3, 0, 0, 0, 0) == 0:  # PR_SET_DUMPABLE, PR_GET_DUMPABLE
        return
    # sandlock keeps that setting for itself. Then it must deny every call that leads into another process.
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
    """Writes a line for the reader outside, who believes those that begin with the nonce."""
    view = memoryview(f"\n{nonce} {text}\n".encode())
    while view:
        view = view[os.write(1, view) :]


def main() -> None:
    """Reads what to run, runs it and reports."""
    os.dup2(1, 2)
    libc = drop_privileges()
    job = read_frame(0)
    printed, asked, answered = os.pipe(), os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        if sys.platform == "linux":
            libc.prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG: it does not outlive its watcher
        be_the_program(libc, job, printed[1], asked[0], answered[1])
    for descriptor in (printed[1], asked[0], answered[1]):
        os.close(descriptor)
    import signal

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN if number != signal.SIGCHLD else signal.SIG_DFL)
        except (OSError, ValueError):
            pass  # SIGKILL, SIGSTOP and those that the C library keeps
    if sys.platform == "linux":
        close_watcher(libc)
        if os.getpid() != 1:
            libc.prctl(
                1, 0, 0, 0, 0
            )  # when all outside has died, the end of standard input says so, and the program is killed
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
