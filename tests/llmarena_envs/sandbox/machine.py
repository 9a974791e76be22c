"""What this machine has for the tests of the sandbox."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from llmarena_envs.sandbox import SandboxError, find_sandbox


def _works(name: str) -> bool:
    try:
        find_sandbox(name)
    except SandboxError:
        return False
    return True


BACKENDS = [name for name in ("sandlock", "bubblewrap", "docker") if _works(name)]
"""The backends that isolate here."""


def own_processes(mark: str) -> list[str]:
    """Returns the command lines of processes with a mark in their environment, without this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_bytes()[:80].decode(errors="replace"))
            except OSError:
                pass  # it has ended, or belongs to another user
    return found


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits until something holds, five seconds at most."""
    for _ in range(250):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")
