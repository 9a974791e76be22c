"""Disks that are too small or read-only."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.lacking import lack


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Yields a directory with room for so many bytes; without the right to mount disks, one with that limit on file size."""
    if os.geteuid() == 0 and _mounts("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder):
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)
    else:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield folder
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Lets nothing be written in a directory."""
    if os.geteuid() == 0:  # root ignores permissions
        if not _mounts("--bind", folder, folder):
            lack("root may write everywhere where it may not mount: run the tests as another user")
        try:
            subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
            yield
        finally:
            subprocess.run(["umount", folder], check=True)
    else:
        modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        try:
            yield
        finally:
            for path, mode in modes.items():
                path.chmod(mode)


def _mounts(*arguments: str | Path) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
