"""Processes of this machine, read from ``/proc``: not every machine has ``ps``."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process.

    Attributes:
        pid: its number.
        parent: the number of the process that started it.
        group: the number of its process group.
        command: its command line.
    """

    pid: int
    parent: int
    group: int
    command: str


def running() -> list[Process]:
    """Returns every process that has not ended; zombies count as ended."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended in the meantime
            state, parent, group = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            if state not in "ZX":
                found.append(Process(int(entry.name), int(parent), int(group), command))
    return found
