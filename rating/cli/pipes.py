"""Standard output and error that survive a closed pipe, as with ``| head``."""

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
    """Makes standard output and error survive a closed pipe: later output is discarded.

    This includes streams that are closed from the start. Other errors of standard output, e.g. a full disk, raise
    ``OSError`` once. Replaced streams, as in a test, are left unchanged.

    Args:
        goes_on: whether the program continues without a reader; otherwise it exits with code 0 once standard output is
            closed.
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
            with contextlib.suppress(SystemExit, OSError):  # the command has ended with its own exit code
                stream.flush()
        sys.stdout, sys.stderr = own


def _reopen(stream: io.TextIOWrapper | None, *, ends: bool, reports: bool) -> io.TextIOWrapper:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    if os.name == "nt" and stream.isatty():
        return stream  # a Windows console is not a file and is never closed
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), ends, reports)),
        encoding=stream.encoding,
        errors=stream.errors,
        newline="\n",
        line_buffering=stream.line_buffering or stream.write_through,  # write_through: PYTHONUNBUFFERED
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
