"""Standard output and error whose reader may leave, as ``head`` does after its last line."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@contextlib.contextmanager
def readers_may_leave(*, goes_on: bool) -> Iterator[None]:
    """Makes standard output and error survive the end of their reader; what is written afterwards goes nowhere.

    A stream that is closed from the beginning has no reader either; a standard output that cannot be written, e.g. since a
    disk is full, raises ``OSError`` once. Streams that are not the process's own, as in a test, are left alone.

    Args:
        goes_on: whether the program has something to do that nobody reads; otherwise it ends, with exit code 0, as soon as
            nobody reads its standard output.
    """
    own = sys.stdout, sys.stderr
    if sys.stdout is sys.__stdout__:
        sys.stdout = _reopen(sys.__stdout__, ends=not goes_on, reports=True)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _reopen(sys.__stderr__, ends=False, reports=False)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(SystemExit, OSError):  # the command is done and has its own exit code
                stream.flush()
        sys.stdout, sys.stderr = own


def _reopen(stream: io.TextIOWrapper | None, *, ends: bool, reports: bool) -> io.TextIOWrapper:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    if os.name == "nt" and stream.isatty():
        return stream  # what writes to a console of Windows is no file, and its reader does not leave
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), ends, reports)),
        encoding=stream.encoding,
        errors=stream.errors,
        newline="\n",
        line_buffering=stream.line_buffering or stream.write_through,  # the latter under PYTHONUNBUFFERED
    )


class _Pipe(io.FileIO):
    def __init__(self, descriptor: int, ends: bool, reports: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._ends = ends
        self._reports = reports
        self._left = False

    def write(self, data: "ReadableBuffer", /) -> int:
        size = memoryview(data).nbytes
        if self._left:
            return size
        try:
            return super().write(data)
        except BrokenPipeError:
            self._left = True
            if self._ends:
                raise SystemExit(0) from None
            return size
        except OSError:
            self._left = True
            if self._reports:
                raise
            return size
