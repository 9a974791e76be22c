"""Processes that a run starts: an interruption is none of their business, and they end when the run does."""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)
"""What terminals, service managers and batch systems send to every process of a run; its leader decides what they mean."""


@contextlib.contextmanager
def interruptions_blocked() -> Iterator[None]:
    """Blocks the signals of an interruption in processes that are started meanwhile, where the system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock the signals when started with the process
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Keeps the working directory out of the first imports of processes that are started meanwhile; their path is this one's."""
    name = "PYTHONSAFEPATH"  # without it ``python -c``, by which they are started, looks there before all other places
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def end_with_parent(grace: float = 0.0) -> None:
    """Waits in a process that was started until its parent has ended, even one that was killed, and ends it then.

    Args:
        grace: seconds that the process has to end by itself.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        time.sleep(grace)
        os._exit(1)


def ending(code: int | None) -> str:
    """Says how a process ended; ``None`` if it has not."""
    if code is None:
        return "closed its pipe"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}" + (" (as the system does when memory runs out)" if name == "SIGKILL" else "")
