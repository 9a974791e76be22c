"""The store of a run in an SQLite file."""

from pathlib import Path

from rating.store import sqlite
from rating.store.store import Store


def create_file(path: Path) -> Store:
    """Creates a new file.

    Raises:
        RunError: if it exists.
    """
    return Store(sqlite.create(path), is_new=True)


def open_file(path: Path, *, read_only: bool = False) -> Store:
    """Opens a file.

    Runs on a read-only file system can be read, even after the process was killed.

    Args:
        path: the file.
        read_only: whether to write nothing; another process may write at the same time.

    Raises:
        RunError: if it does not exist, is damaged, is not a database of this suite, or has another schema version. It is not
            changed.
    """
    return Store(sqlite.open_to_read(path) if read_only else sqlite.open_existing(path))
