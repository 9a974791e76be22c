"""Child processes of a run: they ignore interruptions and end when the run does."""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)
"""Signals that terminals, service managers and batch systems send to every process of a run; its main process handles them."""


@contextlib.contextmanager
def interruptions_blocked() -> Iterator[None]:
    """Blocks ``INTERRUPTIONS`` in processes started meanwhile, if the platform supports it."""
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
    """Keeps the working directory off the path of processes started meanwhile until they receive the path of this process."""
    name = "PYTHONSAFEPATH"  # without it ``python -c``, which starts them, looks in the working directory first
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
    """Ends this process after its parent has ended, even if the parent was killed; blocks until then.

    Args:
        grace: seconds this process has to end by itself.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        time.sleep(grace)
        os._exit(1)


def ending(code: int | None) -> str:
    """Returns how a process ended, in words; ``None`` means that it has not."""
    if code is None:
        return "closed its pipe"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}" + (" (as the system does when memory runs out)" if name == "SIGKILL" else "")
