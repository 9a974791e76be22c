"""The store of a run in a file of SQLite."""

from pathlib import Path

from rating.records import sqlite
from rating.records.calls import CALLS, CallFile
from rating.records.store import Store


def create_file(path: Path) -> Store:
    """Makes a new file.

    Raises:
        RunError: if it is there already.
    """
    return Store(sqlite.create(path), CallFile(path.with_name(CALLS)), is_new=True)


def open_file(path: Path, *, read_only: bool = False) -> Store:
    """Opens a file.

    A run can be read where nothing may be written, e.g. in an archive, also one that was killed.

    Args:
        path: the file.
        read_only: whether it is only looked at, beside somebody who writes: nothing is written then.

    Raises:
        RunError: if it does not exist, is no database of this suite, is damaged, or has another schema version. It is left as it
            is.
    """
    db = sqlite.open_to_read(path) if read_only else sqlite.open_existing(path)
    return Store(db, CallFile(path.with_name(CALLS)))
