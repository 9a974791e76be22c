"""The outer side of a run: sends the program, reads the report within limits, ends all processes."""

import json
import math
import os
import secrets
import select
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from llmarena_envs.sandbox.protocol import MAX_DETAIL, Limits, Result, SandboxError, Value, read_report, read_value

STARTING = 30.0
"""Seconds until a runner must be ready, with a margin for a busy machine."""
GRACE = 2.0
"""Seconds beyond the limit until the runner is killed; it should have ended the program before."""
MAX_NOISE = 4096
"""Maximum number of bytes of a backend's output without a report."""
FILE_SIZE = 2**20
"""Maximum bytes of a file; only files in memory are writable."""


class Started(Protocol):
    """A runner started by a backend.

    Attributes:
        stdin: descriptor to write to.
        stdout: descriptor to read from.
    """

    stdin: int
    stdout: int

    def end(self) -> None:
        """Kills all remaining processes of the run, waits for their end, and closes both descriptors."""
        ...


class Backend(Protocol):
    """Starts the runner in isolation.

    Attributes:
        name: name for users.
        in_force: protections in force, by subject, in words.
        tasks: kernel limit of threads and processes, None if the kernel would also count other programs' ones.
        count: maximum number of processes before the runner aborts, 0 if the backend limits them.
        has_shell: whether programs can start processes, if ``Limits.processes`` allows it.
    """

    name: str
    in_force: Mapping[str, str]
    tasks: int | None
    count: int
    has_shell: bool

    def start(self, limits: Limits) -> Started:
        """Starts the runner; raises ``SandboxError`` if the backend does not work."""
        ...


@cache
def runner_source() -> str:
    """Returns the text of the runner."""
    return (Path(__file__).parent / "runner.py").read_text(encoding="utf-8")


@dataclass(frozen=True)
class BackendSandbox:
    """A sandbox that uses a backend."""

    backend: Backend

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.backend.name

    @property
    def in_force(self) -> Mapping[str, str]:
        """The protections in force, by subject."""
        return self.backend.in_force

    def run(self, program: str, calls: Sequence[str] = (), limits: Limits = Limits()) -> Result:  # noqa: B008 (frozen)
        """Runs a program; see ``Sandbox``."""
        began = time.monotonic()
        frames = _frames(self.backend, program, calls, limits)
        if isinstance(frames, str):
            return self._result("refused", began, calls, detail=frames)
        job, second, nonce = frames
        try:
            started = self.backend.start(limits)
        except SandboxError as error:
            return self._result("refused", began, calls, detail=str(error))
        try:
            largest = _room(limits, calls) + 6 * limits.output + 2**16
            heard = _converse(started, job + second, nonce, limits.seconds + GRACE, largest)
        finally:
            started.end()
        if not heard.ready:
            said = " ".join(heard.noise.decode("utf-8", "backslashreplace").split())[-MAX_DETAIL:] or "it said nothing"
            return self._result("refused", began, calls, detail=f"{self.name} did not start: {said}")
        report = None if heard.report is None else read_report(heard.report)
        if report is not None:
            return self._reported(report, began, calls)
        if not heard.in_time:
            return self._result("timeout", began, calls, detail=f"more than {limits.seconds:g} s of wall time")
        return self._result("killed", began, calls, detail="the process that watches was killed from inside")

    def _reported(self, report: dict[str, Any], began: float, calls: Sequence[str]) -> Result:
        values = [read_value(answer) for answer in report["answers"]]
        values += [Value("missing", detail="the run ended before")] * (len(calls) - len(values))
        return self._result(
            report["status"], began, calls, report["output"], report["cut"], report["detail"], tuple(values)
        )

    def _result(
        self,
        status: Any,
        began: float,
        calls: Sequence[str],
        output: str = "",
        cut: bool = False,
        detail: str = "",
        values: tuple[Value, ...] | None = None,
    ) -> Result:
        if values is None:
            values = (Value("missing", detail=detail[:MAX_DETAIL]),) * len(calls)
        seconds = time.monotonic() - began
        return Result(status, output, cut, seconds, self.name, self.in_force, values, detail[:MAX_DETAIL])


def _room(limits: Limits, calls: Sequence[str]) -> int:
    """Returns the maximum number of bytes of all answers in transit."""
    return 12 * limits.values + 4096 * (len(calls) + 1)


def _frames(backend: Backend, program: str, calls: Sequence[str], limits: Limits) -> tuple[bytes, bytes, bytes] | str:
    """Returns the two frames of the runner and the nonce, or why the program cannot be run."""
    size = len(program) + sum(len(expression) for expression in calls)
    if size > limits.program:
        return f"the program and its calls have {size} characters, more than the limit of {limits.program}"
    if limits.processes and not backend.has_shell:
        return f"programs cannot start processes with the backend {backend.name}"
    nonce = secrets.token_hex(16)
    job = {
        "program": program,
        "name": "solution" if calls else "__main__",
        "seconds": limits.seconds,
        "cpu": math.ceil(limits.cpu_seconds),
        "memory": int(limits.memory),
        "output": int(limits.output),
        "values": int(limits.values),
        "answers": _room(limits, calls),
        "open_files": int(limits.open_files),
        "file_size": FILE_SIZE,
        "tasks": backend.tasks,
        "count": backend.count and backend.count + int(limits.processes),
    }
    return _frame(job), _frame({"nonce": nonce, "calls": list(calls)}), nonce.encode()


def _frame(value: object) -> bytes:
    data = json.dumps(value).encode()
    return b"%08x" % len(data) + data


class _Heard(NamedTuple):
    """Output of a runner: whether it was ready, its report if any, and its output before it was ready."""

    ready: bool
    report: bytes | None
    noise: bytes
    in_time: bool


def _converse(started: Started, request: bytes, nonce: bytes, seconds: float, largest: int) -> _Heard:
    """Sends the request and reads the runner's output, for ``seconds`` after it is ready and at most ``largest`` bytes."""
    mark = b"\n" + nonce + b" "
    said, ready, in_time = b"", False, True
    deadline = time.monotonic() + STARTING
    os.set_blocking(started.stdin, False)
    poll = select.poll()  # select.select does not support descriptors above 1,023
    poll.register(started.stdin, select.POLLOUT)
    poll.register(started.stdout, select.POLLIN)
    while True:
        events = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
        if not events:
            in_time = False
            break
        if started.stdin in events:
            request = _send(started.stdin, request)
            if not request:
                poll.unregister(started.stdin)
        if started.stdout in events:
            data = os.read(started.stdout, 2**16)
            said += data
            if not ready and mark + b"ready\n" in said:
                ready, deadline = True, time.monotonic() + seconds
            if not data or len(said) > largest or (said.endswith(b"\n") and said.count(mark) > 1):
                break
    noise, _, rest = said.partition(mark)
    report = rest.partition(mark)[2]
    return _Heard(ready, report or None, noise[-MAX_NOISE:], in_time)


def _send(descriptor: int, request: bytes) -> bytes:
    """Writes as much as the pipe accepts; returns the rest, empty if the pipe is broken."""
    try:
        return request[os.write(descriptor, request) :]
    except BlockingIOError:
        return request
    except BrokenPipeError:
        return b""
