"""A limit of time that also ends what never returns, such as a pattern that backtracks."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

AGAIN = 1.0
"""Seconds until the alarm rings once more: whatever is being cleaned up may swallow an exception."""

FRAMES = 3
"""Innermost calls that are named when time is up."""


class TimeUp(BaseException):
    """Interrupts what takes too long; no ``Exception``, since an environment may catch those.

    Args:
        limit: seconds that it might have taken.
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
    """Raises ``TimeUp`` in what is done inside once it has taken so long.

    Python looks for signals between instructions and, while a pattern is matched, every few thousand attempts: with a long text
    the interruption may come some seconds late. An alarm of somebody else's is put back afterwards with the time it has left; one
    that would ring earlier is left as it is.
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
