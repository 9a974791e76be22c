"""A file on a medium that may be damaged: what cannot be read of it is zeros."""

from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

_SECTOR = 512
"""Bytes that a medium reads at once: one of them may be lost and the next one not."""


class Medium:
    """A file that is only read; one that does not exist is empty.

    Args:
        path: the file.

    Attributes:
        size: in bytes.
        unreadable: sectors that could not be read when they were asked for.

    Raises:
        OSError: if it exists and cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = FileIO(path) if path.exists() else None
        self.size = self._file.seek(0, 2) if self._file else 0
        self.unreadable = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def read(self, place: int, size: int) -> bytes:
        """Returns ``size`` bytes; zeros behind the end of the file and where it cannot be read."""
        try:
            return self._read(place, size)
        except OSError:
            sectors = range(place, place + size, _SECTOR)
            return b"".join(self._sector(start, min(_SECTOR, place + size - start)) for start in sectors)

    def _read(self, place: int, size: int) -> bytes:
        if not self._file or place >= self.size:
            return bytes(size)
        self._file.seek(place)
        return self._file.read(size).ljust(size, b"\0")

    def _sector(self, place: int, size: int) -> bytes:
        try:
            return self._read(place, size)
        except OSError:
            self.unreadable += 1
            return bytes(size)
