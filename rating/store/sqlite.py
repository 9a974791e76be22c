"""SQLite engine: the tables of a run, and checks before use."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.private_file import create_private
from rating.errors import RunError, StoreError
from rating.store.sql import Row

APPLICATION_ID = 0x4C4D4172  # "LMAr" in the file header marks a database of this project
SCHEMA_VERSION = 3

_READING_SECONDS = 5
"""Lock timeout of read-only connections, in seconds."""

_PAGES_OF_LOG = 8_000
"""Pages of 4 kB in the write-ahead log before a checkpoint.

Rows are spread over the file by match id. In a long run, a checkpoint after the default of 1,000 pages would write, and wait
for, nearly each page for only two or three matches.
"""

UNFINISHED = ".new"
"""Suffix of a database file during creation."""

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
    "call": "CREATE TABLE call (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, line TEXT NOT NULL)",
    "call_number": "CREATE INDEX call_number ON call (number)",
}
"""``turn`` is the journal of matches in progress. The turns of a finished match are packed into ``transcript``, with a
``dictionary`` shared by the matches of an environment. The ``turns`` of a match are the number that its ``seal`` covers. A
``call`` in flight has the number 0."""


class Sqlite:
    """A connection to the file of a run; see ``Sql``.

    Args:
        path: the file.
        db: the connection; closed with this object.
    """

    place = "rowid"

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.path)

    @property
    def is_copy(self) -> bool:
        """Whether reads use a copy of the file."""
        return not any(file for _, _, file in self._db.execute("PRAGMA database_list"))

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._db.in_transaction

    def execute(self, sql: str, *values: Any) -> int:
        """Executes a statement."""
        return self._executed(sql, values).rowcount

    def row(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row of a query."""
        try:
            row: Row | None = self._db.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            raise StoreError(_said(self.path, error)) from error
        return row

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns all rows of a query."""
        return list(self.rows(sql, *values))

    def rows(self, sql: str, *values: Any) -> Iterator[Row]:
        """Yields the rows of a query."""
        return _rows(self.path, self._executed(sql, values))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Runs the statements of the block in one transaction."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite itself rolls back if the disk is full
                self.execute("ROLLBACK")
            raise

    def lock(self) -> None:
        """Does nothing: the lock of the run directory also protects the file."""

    def changes(self) -> None:
        """Returns ``None``: the file shows changes."""

    def flaws(self) -> Iterator[str]:
        """Yields the findings of SQLite's integrity check, and values whose type differs from their column.

        Such a value can have the same bytes and therefore the same seal.
        """
        for (verdict,) in self.rows("PRAGMA integrity_check"):
            if verdict != "ok":
                yield f"database: {' '.join(str(verdict).split())}"
        for table in (name for name, statement in TABLES.items() if statement.startswith("CREATE TABLE")):
            for column, declared in self.all(f"SELECT name, lower(type) FROM pragma_table_info('{table}')"):
                where = f"SELECT rowid, typeof({column}) FROM {table} WHERE typeof({column}) != ?"
                for row, found in self.rows(where, declared):
                    yield f"table {table}, row {row}: expected {column} of type {declared}, got {found}"

    def close(self) -> None:
        """Closes the connection."""
        self._db.close()

    def _executed(self, sql: str, values: Row) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, values)
        except sqlite3.Error as error:
            raise StoreError(_said(self.path, error)) from error


def _rows(path: Path, cursor: sqlite3.Cursor) -> Iterator[Row]:
    try:
        for row in cursor:  # noqa: UP028 (``yield from`` would close the cursor, perhaps after the connection)
            yield row
    except sqlite3.Error as error:
        raise StoreError(_said(path, error)) from error


def _said(path: Path, error: OSError | sqlite3.Error) -> str:
    safe = "; everything recorded is safe, and the run goes on when there is room"
    return f"{path}: the database of the run cannot be used: {error}{safe if 'full' in str(error) else ''}"


def create(path: Path) -> Sqlite:
    """Creates the database of a new run in a temporary file and renames it, so readers never see a partial one.

    Raises:
        RunError: if the file exists.
        StoreError: if it cannot be written.
    """
    if path.exists():
        raise RunError(f"{path}: expected no file, but it is there already")
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        unfinished.unlink(missing_ok=True)
        create_private(unfinished)
        _make(unfinished)
        unfinished.replace(path)
        db = _connect(path.absolute().as_uri())
        try:
            db.execute("PRAGMA journal_mode = WAL")
            _set_up(db)
        except sqlite3.Error:
            db.close()
            raise
    except (OSError, sqlite3.Error) as error:
        raise StoreError(_said(path, error)) from error
    return Sqlite(path, db)


def _set_up(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_OF_LOG}")


def _make(path: Path) -> None:
    with closing(_connect(path.absolute().as_uri())) as new:
        new.execute("PRAGMA journal_mode = OFF")  # a new file needs no rollback
        new.execute("BEGIN IMMEDIATE")
        for table in TABLES.values():
            new.execute(table)
        new.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        new.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        new.execute("COMMIT")


def open_existing(path: Path) -> Sqlite:
    """Opens the database of a run.

    A write-protected file is opened read-only, or as a copy if its writer was killed.

    Raises:
        RunError: if the file does not exist, is damaged, is not a database of this suite, or has another schema version. It is
            not changed.
    """
    if not path.exists():
        raise RunError(f"{path}: expected the database of a run, but it does not exist")
    _check_log_belongs(path)
    writable = os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)
    db = _connect(path.absolute().as_uri()) if writable else _connect_to_read(path, timeout=30)
    with _closed_if_unusable(path, db):
        _check(path, db)
        _set_up(db)
    return Sqlite(path, db)


def open_to_read(path: Path) -> Sqlite:
    """Opens the database of a run for reading, also during a run; writes neither to the file nor to its directory.

    If the writer was killed, a copy is opened, which several threads can use one at a time. The integrity of the pages is not
    checked: this takes long, and monitoring opens the file repeatedly.

    Raises:
        RunError: as ``open_existing``.
    """
    if not path.exists():
        raise RunError(f"{path}: expected the database of a run, but it does not exist")
    _check_log_belongs(path)
    db = _connect_to_read(path, _READING_SECONDS)
    with _closed_if_unusable(path, db):
        _check_version(path, db)
        _check_tables(path, db)
    return Sqlite(path, db)


def strange_tables(db: sqlite3.Connection) -> list[str]:
    """Returns the names of tables, indexes, views and triggers that are missing, added or changed."""
    found = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    return sorted(name for name in {*found, *TABLES} if found.get(name) != TABLES.get(name))


def _connect(where: str, timeout: float = 30) -> sqlite3.Connection:
    return sqlite3.connect(where, uri=True, timeout=timeout, isolation_level=None)


@contextmanager
def _closed_if_unusable(path: Path, db: sqlite3.Connection) -> Iterator[None]:
    """Closes the database on an error and raises ``RunError`` with the cause."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        db.close()
        raise RunError(f"{path}: expected the database of a run, but SQLite says: {error}") from error
    except RunError:
        db.close()
        raise


def _connect_to_read(path: Path, timeout: float) -> sqlite3.Connection:
    """Connects without writing to the file or its directory.

    Raises:
        RunError: if it cannot be read.
    """
    log, index = _log_of(path), path.with_name(f"{path.name}-shm")
    if not log.exists():  # no writer, and SQLite would create a log even for reading
        return _connect(f"{path.absolute().as_uri()}?immutable=1", timeout)
    if index.exists():
        return _connect(f"{path.absolute().as_uri()}?mode=ro", timeout)
    # The writer was killed: SQLite would create an index of the log for reading.
    with TemporaryDirectory() as folder:
        try:
            for file in (path, log):
                shutil.copyfile(file, Path(folder) / file.name)
            return _copy(_connect((Path(folder) / path.name).as_uri()))
        except (OSError, sqlite3.Error) as error:
            raise RunError(f"{path}: expected the database of a run, but it cannot be read: {error}") from error


def _copy(original: sqlite3.Connection) -> sqlite3.Connection:
    """Returns a temporary copy and closes the original."""
    with closing(original):
        # Several threads can use the copy.
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
    if verdict != "ok":
        raise _damaged(path, " ".join(verdict.split()))
    _check_tables(path, db)


def _check_log_belongs(path: Path) -> None:
    """Checks that an empty file has no log, since SQLite would delete the log even for reading."""
    log = _log_of(path)
    if not path.stat().st_size and log.exists() and log.stat().st_size:
        raise _damaged(path, f"it is empty, but its log {log.name} is not")


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _check_version(path: Path, db: sqlite3.Connection) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise RunError(f"{path}: this database was not written by llmarena; nothing in it was changed")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA_VERSION:
        raise RunError(
            f"{path}: expected schema version {SCHEMA_VERSION}, got {version}: it was written by"
            f" {'a newer' if version > SCHEMA_VERSION else 'an older'} version of llmarena-envs; install that version to read it"
        )


def _check_tables(path: Path, db: sqlite3.Connection) -> None:
    if strange := strange_tables(db):
        raise _damaged(path, f"not as they were made: {', '.join(strange)}")


def _damaged(path: Path, what: str) -> RunError:
    return RunError(
        f"{path}: the database is damaged ({what}); nothing in it was changed; recover a copy with: sqlite3 {path.name} .recover"
    )
