"""SIGTERM, which service managers and batch systems send, stops a command as an interruption from the keyboard does."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def termination_interrupts() -> Iterator[Callable[[], bool]]:
    """Handles SIGTERM by whatever handles SIGINT at the moment: asyncio's handler, a person's prompt, or the default one.

    Yields:
        A function that says whether the signal has come.
    """
    has_come = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal has_come
        has_come = True
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # a shell's background job ignores SIGINT, but not this
            handler = signal.default_int_handler
        handler(signal.SIGINT, frame)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield lambda: has_come
    finally:
        signal.signal(signal.SIGTERM, before)
