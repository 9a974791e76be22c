"""Atomic replacement of files and directories."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

UNFINISHED = ".unfinished"
"""Suffix of a file or directory during creation."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a temporary path for a file or directory, renamed to ``path`` on success and removed on an error.

    Raises:
        OSError: if it cannot be written; ``filename`` is set.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        _remove(unfinished)  # left by a killed process
        try:
            yield unfinished
            unfinished.replace(path)
        finally:
            _remove(unfinished)
    except OSError as error:
        if error.filename is None:  # e.g. when the disk is full
            error.filename = str(path)
        raise


@contextmanager
def replacing_text(path: Path) -> Iterator[TextIO]:
    """Yields a text file that replaces ``path`` on success; pipes and devices are written directly.

    Raises:
        OSError: if it cannot be written; ``filename`` is set.
    """
    if is_stream(path):
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
    else:
        with replacing(path.resolve()) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
            yield file


def is_stream(path: Path) -> bool:
    """Returns whether a path is a pipe or a device, which cannot be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
