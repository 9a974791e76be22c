"""The SQLite file of a run: its tables, and what is checked before it is used."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rating.errors import RunError

APPLICATION_ID = 0x4C4D4172  # "LMAr" in the header of the file says that the database is one of ours
SCHEMA_VERSION = 2

_READING_SECONDS = 5
"""For which who only looks waits while the file is locked, as when it is converted."""

UNFINISHED = ".new"
"""Behind the name of a database while it is made."""

TABLES = {
    "fact": "CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "match": """CREATE TABLE match (
    id TEXT PRIMARY KEY, environment TEXT NOT NULL, number INTEGER NOT NULL, policies TEXT NOT NULL, seed TEXT NOT NULL,
    options TEXT NOT NULL, status TEXT NOT NULL, tries INTEGER NOT NULL, turns INTEGER NOT NULL, seats TEXT NOT NULL,
    digest TEXT NOT NULL, error TEXT NOT NULL, seal TEXT NOT NULL, UNIQUE (environment, number)
)""",
    "turn": """CREATE TABLE turn (
    match TEXT NOT NULL, number INTEGER NOT NULL, payload TEXT NOT NULL, seal TEXT NOT NULL, PRIMARY KEY (match, number)
)""",
    "transcript": "CREATE TABLE transcript (match TEXT PRIMARY KEY, turns BLOB NOT NULL)",
    "dictionary": "CREATE TABLE dictionary (environment TEXT PRIMARY KEY, data BLOB NOT NULL)",
}
"""``turn`` is the journal of the matches under way; the turns of a match that has ended are packed into ``transcript``, with a
``dictionary`` that the matches of an environment share. A match's ``turns`` says how many of them its ``seal`` covers."""


def create(path: Path) -> sqlite3.Connection:
    """Makes the database of a new run: in another file, so that who looks for it finds it whole or not at all.

    Raises:
        RunError: if the file is there already.
    """
    if path.exists():
        raise RunError(f"{path}: expected no file, but it is there already")
    unfinished = path.with_name(path.name + UNFINISHED)
    unfinished.unlink(missing_ok=True)
    with closing(_connect(unfinished.absolute().as_uri())) as new:
        new.execute("PRAGMA journal_mode = OFF")  # nobody goes back to an empty file
        new.execute("BEGIN IMMEDIATE")
        for table in TABLES.values():
            new.execute(table)
        new.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        new.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        new.execute("COMMIT")
    unfinished.replace(path)
    db = _connect(path.absolute().as_uri())
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        db.close()
        raise
    return db


def open_existing(path: Path) -> sqlite3.Connection:
    """Opens the database of a run, of this schema version or an older one.

    What may not be written is only read; if it has to be converted, or was left in mid-write, a copy of it is.

    Raises:
        RunError: if the file does not exist, is no database of this suite, is damaged, or was written by a newer version. It is
            left as it is.
    """
    if not path.exists():
        raise RunError(f"{path}: expected the database of a run, but it does not exist")
    writable = os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)
    db = _connect(path.absolute().as_uri()) if writable else _connect_to_read(path, timeout=30)
    with _closed_if_unusable(path, db):
        _check(path, db)
        if not writable and schema_version(db) < SCHEMA_VERSION:
            db = _copy(db)
        db.execute("PRAGMA synchronous = NORMAL")
    return db


def open_to_read(path: Path) -> sqlite3.Connection:
    """Opens the database of a run beside whoever writes it; nothing is written, neither to it nor beside it.

    An older schema version, or what a killed process left, is a copy, which several threads may use, one at a time. Whether
    every page of the file is sound is not checked: that takes long, and who watches a run opens it again and again.

    Raises:
        RunError: as ``open_existing``.
    """
    if not path.exists():
        raise RunError(f"{path}: expected the database of a run, but it does not exist")
    db = _connect_to_read(path, _READING_SECONDS)
    with _closed_if_unusable(path, db):
        _check_version(path, db)
        if schema_version(db) < SCHEMA_VERSION:
            db = _copy(db)
        elif strange := strange_tables(db):
            raise _damaged(path, f"not as they were made: {', '.join(strange)}")
    return db


def is_copy(db: sqlite3.Connection) -> bool:
    """Says whether a database is a copy, which shows nothing of what is written into the file later."""
    return not any(file for _, _, file in db.execute("PRAGMA database_list"))


def schema_version(db: sqlite3.Connection) -> int:
    """Returns the version of the tables."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def strange_tables(db: sqlite3.Connection) -> list[str]:
    """Returns the names of tables, indexes, views and triggers that are not as this version makes them, or are missing."""
    found = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    return sorted(name for name in {*found, *TABLES} if found.get(name) != TABLES.get(name))


def _connect(where: str, timeout: float = 30) -> sqlite3.Connection:
    return sqlite3.connect(where, uri=True, timeout=timeout, isolation_level=None)


@contextmanager
def _closed_if_unusable(path: Path, db: sqlite3.Connection) -> Iterator[None]:
    """Closes a database in which something is wrong, and says what."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        db.close()
        raise RunError(f"{path}: expected the database of a run, but SQLite says: {error}") from error
    except RunError:
        db.close()
        raise


def _connect_to_read(path: Path, timeout: float) -> sqlite3.Connection:
    """Connects so that nothing is written, neither to the file nor beside it.

    Raises:
        RunError: if it cannot be read.
    """
    log, index = (path.with_name(f"{path.name}-{part}") for part in ("wal", "shm"))
    if not log.exists():  # nobody writes, and SQLite would make a log even for reading
        return _connect(f"{path.absolute().as_uri()}?immutable=1", timeout)
    if index.exists():
        return _connect(f"{path.absolute().as_uri()}?mode=ro", timeout)
    # Nobody writes, but somebody was killed at it: SQLite would make an index of the log for reading.
    with TemporaryDirectory() as folder:
        try:
            for file in (path, log):
                shutil.copyfile(file, Path(folder) / file.name)
            return _copy(_connect((Path(folder) / path.name).as_uri()))
        except (OSError, sqlite3.Error) as error:
            raise RunError(f"{path}: expected the database of a run, but it cannot be read: {error}") from error


def _copy(original: sqlite3.Connection) -> sqlite3.Connection:
    """Returns a copy in no place that has a name, and closes the original."""
    with closing(original):
        # It may outlive the look of one thread.
        copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        try:
            original.backup(copy)
        except sqlite3.Error:
            copy.close()
            raise
    return copy


def _check(path: Path, db: sqlite3.Connection) -> None:
    _check_version(path, db)
    (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    strange = strange_tables(db) if schema_version(db) == SCHEMA_VERSION else []
    if verdict != "ok" or strange:
        raise _damaged(
            path, " ".join(verdict.split()) if verdict != "ok" else f"not as they were made: {', '.join(strange)}"
        )


def _check_version(path: Path, db: sqlite3.Connection) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise RunError(f"{path}: this database was not written by llmarena; nothing in it was changed")
    version = schema_version(db)
    if version > SCHEMA_VERSION:
        raise RunError(
            f"{path}: expected schema version {SCHEMA_VERSION} or older, got {version}: it was written by a newer"
            " version of llmarena-envs; install that version to read it"
        )


def _damaged(path: Path, what: str) -> RunError:
    return RunError(f"{path}: the database is damaged ({what}); nothing in it was changed")
