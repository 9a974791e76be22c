"""Rows that wait on disk for others, so that memory does not grow with a run."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rating.errors import RunError
from rating.records.packing import pack, unpack


class Spool:
    """A database that is gone when it is closed; a context manager.

    Args:
        tables: what makes its tables.
        directory: where it lies meanwhile; by default where temporary files do.
    """

    def __init__(self, tables: str, directory: Path | None = None) -> None:
        self._place = tempfile.TemporaryDirectory(prefix=".llmarena-", dir=directory)
        self._db = sqlite3.connect(Path(self._place.name) / "spool.db", isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + tables + "; BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()
        self._place.cleanup()
        if isinstance(error, sqlite3.Error):
            raise RunError(f"rows cannot be put aside in {self._place.name}: {error}; make room there") from error


class RowSpool(Spool):
    """Rows by key, which come back key by key in the order in which keys and rows came first."""

    def __init__(self, directory: Path | None = None) -> None:
        super().__init__(
            "CREATE TABLE key (key TEXT PRIMARY KEY, first INTEGER, rows INTEGER) WITHOUT ROWID;"
            "CREATE TABLE row (id INTEGER PRIMARY KEY, key TEXT, data BLOB)",
            directory,
        )

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Puts a row aside."""
        added = self._db.execute("INSERT INTO row (key, data) VALUES (?, ?)", (key, dump(row)))
        self._db.execute(
            "INSERT INTO key VALUES (?, ?, 1) ON CONFLICT (key) DO UPDATE SET rows = rows + 1", (key, added.lastrowid)
        )

    def grouped(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields every row and how many rows have its key."""
        order = "SELECT row.id, rows FROM row JOIN key USING (key) ORDER BY first, row.id"
        for number, rows in self._db.execute(order):
            (data,) = self._db.execute("SELECT data FROM row WHERE id = ?", (number,)).fetchone()
            yield load(data), rows


def dump(row: dict[str, Any]) -> bytes:
    """Returns a row of JSON values, packed."""
    return pack(json.dumps(row, ensure_ascii=False).encode())


def load(data: bytes) -> dict[str, Any]:
    """Returns the row that ``dump`` packed."""
    row: dict[str, Any] = json.loads(unpack(data))
    return row
