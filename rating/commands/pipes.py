"""Standard output and error whose reader may leave, as ``head`` does after its last line."""

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@contextlib.contextmanager
def readers_may_leave(*, goes_on: bool) -> Iterator[None]:
    """Makes standard output and error survive the end of their reader; what is written afterwards goes nowhere.

    Streams that are not the process's own, as in a test, are left alone.

    Args:
        goes_on: whether the program has something to do that nobody reads; otherwise it ends, with exit code 0, as soon as
            nobody reads its standard output.
    """
    own = sys.stdout, sys.stderr
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        sys.stdout = _reopen(sys.__stdout__, ends=not goes_on)
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        sys.stderr = _reopen(sys.__stderr__, ends=False)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                with contextlib.suppress(SystemExit):  # the command is done and has its own exit code
                    stream.flush()
        sys.stdout, sys.stderr = own


def _reopen(stream: io.TextIOWrapper, *, ends: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), ends)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,  # the latter under PYTHONUNBUFFERED
    )


class _Pipe(io.FileIO):
    def __init__(self, descriptor: int, ends: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._ends = ends
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
