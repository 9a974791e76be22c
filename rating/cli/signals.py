"""Clean stop of a command on SIGINT and SIGTERM."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from types import FrameType, TracebackType
from typing import Any, TypeVar

_T = TypeVar("_T")

_PATIENCE = 2.0
"""Seconds for a clean stop. A second signal after that ends the process at once."""

_SHOW_CURSOR = "\x1b[?25h"


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
            os.write(descriptor, f"{cursor}\nllmarena: ended at once; what was recorded is safe\n".encode())
    os._exit(128 + number)
