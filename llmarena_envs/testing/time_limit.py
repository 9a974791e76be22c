"""A time limit that also ends calls that never return, such as a backtracking pattern."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

AGAIN = 1.0
"""Seconds until the alarm repeats, because clean-up code can swallow an exception."""

FRAMES = 3
"""Number of innermost calls named on a timeout."""


class TimeUp(BaseException):
    """Raised on a timeout; not an ``Exception``, because an environment can catch those.

    Args:
        limit: time limit in seconds.
        where: the innermost calls at that moment.
    """

    def __init__(self, limit: float, where: str) -> None:
        super().__init__(limit, where)
        self.limit = limit
        self.where = where


def can_interrupt() -> bool:
    """Says whether ``interrupted_after`` works here: in the main thread of a system with interval timers."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raises ``TimeUp`` inside the context after the given time.

    Python checks signals between instructions and, while matching a pattern, every few thousand attempts: with a long text the
    interruption can be some seconds late. An existing alarm is restored afterwards with its remaining time; an earlier one is
    not replaced.
    """
    left, interval = signal.getitimer(signal.ITIMER_REAL)
    if 0 < left <= seconds:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeUp(seconds, _calls(frame))

    begun = time.monotonic()
    handler = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - begun), 0.001), interval)


def _calls(frame: FrameType | None) -> str:
    """Names the innermost calls that lead to a frame."""
    calls: list[str] = []
    while frame is not None and len(calls) < FRAMES:
        calls.append(f"{frame.f_code.co_name} ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})")
        frame = frame.f_back
    return ", called by ".join(calls)
