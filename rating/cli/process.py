"""The process of a command: a clean stop on signals, closed output pipes, garbage collection."""

import asyncio
import contextlib
import gc
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_T = TypeVar("_T")

_PATIENCE = 2.0
"""Seconds for a clean stop. A second signal after that ends the process at once."""

_SHOW_CURSOR = "\x1b[?25h"

_COLLECT_AFTER = 20_000
"""Net allocations between two collections of the youngest generation. Python's default is 700."""


class Interruptions:
    """While entered, the first SIGINT or SIGTERM raises ``KeyboardInterrupt``, or cancels the task of ``run``.

    Further signals are ignored for two seconds; after that they end the process at once, which loses no recorded data. If
    SIGINT was ignored before, as in a background job of a shell, it stays ignored.

    Attributes:
        terminated: whether SIGTERM was received.
    """

    def __init__(self) -> None:
        self.terminated = False
        self._since: float | None = None
        self._runs = False
        self._task: asyncio.Task[Any] | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interruptions":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if number == signal.SIGTERM or signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def run(self, main: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Runs a coroutine function like ``asyncio.run``.

        A signal cancels the task, because an exception raised inside the event loop would corrupt the loop.

        Raises:
            KeyboardInterrupt: if a signal was received, after the task has ended.
        """

        async def cancellable() -> _T:
            self._task = asyncio.current_task()
            if self._since is not None:  # signal before the task started
                raise asyncio.CancelledError
            return await main()

        self._runs = True
        try:
            result = asyncio.run(cancellable())
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self._task = None
            self._runs = False
        if self._since is not None:  # signal after the task ended
            raise KeyboardInterrupt
        return result

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.terminated |= number == signal.SIGTERM
        now = time.monotonic()
        if self._since is not None:
            if now - self._since > _PATIENCE:
                _leave(number)
            return
        self._since = now
        is_at_prompt = signal.getsignal(signal.SIGINT) == signal.default_int_handler  # see agents.human
        if not self._runs or is_at_prompt:
            raise KeyboardInterrupt
        if self._task is not None and not (loop := self._task.get_loop()).is_closed():
            loop.call_soon_threadsafe(self._task.cancel)


def _leave(number: int) -> None:
    """Ends the process with the exit code of a signal, after restoring the terminal cursor."""
    if sys.__stderr__ is not None:
        descriptor = sys.__stderr__.fileno()
        cursor = _SHOW_CURSOR if os.isatty(descriptor) else ""
        with contextlib.suppress(OSError):
            os.write(descriptor, f"{cursor}\nllmarena: ended at once; all recorded data is safe\n".encode())
    os._exit(128 + number)


@contextlib.contextmanager
def closed_pipes_ignored(*, continues: bool) -> Iterator[None]:
    """Makes standard output and error survive a closed pipe, as with ``| head``: later output is discarded.

    This includes streams closed from the start. Other errors of standard output, e.g. a full disk, raise ``OSError`` once.
    Replaced streams, as in a test, are left unchanged.

    Args:
        continues: whether the program continues after standard output is closed; otherwise it exits with code 0.
    """
    own = sys.stdout, sys.stderr
    if sys.stdout is sys.__stdout__:
        sys.stdout = _reopen(sys.__stdout__, ends=not continues, reports=True)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _reopen(sys.__stderr__, ends=False, reports=False)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(SystemExit, OSError):  # the command has ended with its own exit code
                stream.flush()
        sys.stdout, sys.stderr = own


def _reopen(stream: io.TextIOWrapper | None, *, ends: bool, reports: bool) -> io.TextIOWrapper:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    if os.name == "nt" and stream.isatty():
        return stream  # a Windows console is not a file and is never closed
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), ends, reports)),
        encoding=stream.encoding,
        errors=stream.errors,
        newline="\n",
        line_buffering=stream.line_buffering or stream.write_through,  # write_through: PYTHONUNBUFFERED
    )


class _Pipe(io.FileIO):
    def __init__(self, descriptor: int, ends: bool, reports: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._ends = ends
        self._reports = reports
        self._is_closed = False

    def write(self, data: "ReadableBuffer", /) -> int:
        size = memoryview(data).nbytes
        if self._is_closed:
            return size
        try:
            return super().write(data)
        except BrokenPipeError:
            self._is_closed = True
            if self._ends:
                raise SystemExit(0) from None
            return size
        except OSError:
            self._is_closed = True
            if self._reports:
                raise
            return size


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Makes garbage collection rarer while entered, and excludes existing objects from it.

    Hundreds of running matches hold a million objects with few cycles. With the default threshold, garbage collection took a
    quarter of the CPU time of a run with models.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
