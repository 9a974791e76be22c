"""The store of a run in a file of SQLite."""

from pathlib import Path

from rating.records import sqlite, version_1
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

    A run of an older schema version is converted, where nothing may be written in a copy that is gone afterwards. A run can be
    read where nothing may be written, e.g. in an archive, also one that was killed.

    Args:
        path: the file.
        read_only: whether it is only looked at, beside somebody who writes: nothing is written then, not even a conversion.

    Raises:
        RunError: if it does not exist, is no database of this suite, is damaged, or was written by a newer version. It is left as
            it is.
    """
    db = sqlite.open_to_read(path) if read_only else sqlite.open_existing(path)
    try:
        version_1.convert(db)
    except BaseException:
        db.close()
        raise
    return Store(db, CallFile(path.with_name(CALLS)))
