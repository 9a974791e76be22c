"""Files that take the place of others only when they are whole."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives the path of something unfinished, file or directory, which takes its place at the end or is gone.

    Raises:
        OSError: if it cannot be written; says where.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        _remove(unfinished)  # of somebody who was killed
        try:
            yield unfinished
            unfinished.replace(path)
        finally:
            _remove(unfinished)
    except OSError as error:
        if error.filename is None:  # as where a disk is full
            error.filename = str(path)
        raise


@contextmanager
def replacing_text(path: Path) -> Iterator[TextIO]:
    """Gives a file to write a text to, which takes the place of another one at the end or is gone; a pipe is written to as it is.

    Raises:
        OSError: if it cannot be written; says where.
    """
    if is_stream(path):
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
    else:
        with replacing(path.resolve()) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
            yield file


def is_stream(path: Path) -> bool:
    """Says whether a path is something that is written to and cannot be replaced, as a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
