"""Creates and opens the SQLite database of a run, with checks before use."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import ColumnElement, create_engine, func, literal_column, select, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from agents.private_file import create_private
from rating.errors import RunError, StoreError
from rating.replacing import UNFINISHED
from rating.store.engine import Database, cause, closed_on_error
from rating.store.schema import METADATA, SCHEMA_VERSION, creation

APPLICATION_ID = 0x4C4D4172  # "LMAr" in the file header marks a database of this project

_READING_SECONDS = 5
"""Lock timeout of read-only connections, in seconds."""

_PAGES_OF_LOG = 8_000
"""Pages of 4 kB in the write-ahead log before a checkpoint.

Rows are spread over the file by match id. In a long run, a checkpoint after the default of 1,000 pages would write, and wait
for, nearly each page for only two or three matches.
"""

_DIALECT = sqlite.dialect()


class SqliteDatabase(Database):
    """A connection to the file of a run.

    Args:
        path: the file.
        connect: returns a connection of the driver.
        is_copy: whether it is a connection to a copy of the file.
    """

    row_key = literal_column("match.rowid")
    _begin = "BEGIN IMMEDIATE"

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection], *, is_copy: bool = False) -> None:
        super().__init__(create_engine("sqlite://", creator=connect, poolclass=NullPool), str(path))
        self.is_copy = is_copy

    def flaws(self) -> Iterator[str]:
        """Yields the findings of SQLite's integrity check, and values whose type differs from their column.

        Such a value can have the same bytes and therefore the same seal.
        """
        for (verdict,) in self.rows(text("PRAGMA integrity_check")):
            if verdict != "ok":
                yield f"database: {' '.join(str(verdict).split())}"
        rowid: ColumnElement[int] = literal_column("rowid")
        for table in METADATA.sorted_tables:
            for column in table.columns:
                expected = column.type.compile(_DIALECT).lower()
                found = func.typeof(column)
                for row, kind in self.rows(select(rowid, found).select_from(table).where(found != expected)):
                    yield f"table {table.name}, row {row}: expected {column.name} of type {expected}, got {kind}"

    def explain(self, error: SQLAlchemyError) -> StoreError:
        """Returns the error to raise for an error of SQLite."""
        return _store_error(self.name, cause(error))


def create(path: Path) -> SqliteDatabase:
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
        with closing(_connect(unfinished.absolute().as_uri())) as new:
            new.execute("PRAGMA journal_mode = OFF")  # a new file needs no rollback
            new.execute("BEGIN IMMEDIATE")
            for statement in creation(_DIALECT).values():
                new.execute(statement)
            new.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            new.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            new.execute("COMMIT")
        unfinished.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise _store_error(str(path), error) from error
    db = SqliteDatabase(path, lambda: _connect_to_write(path))
    with closed_on_error(db):
        db.command("PRAGMA journal_mode = WAL")
    return db


def open_existing(path: Path, *, read_only: bool = False) -> SqliteDatabase:
    """Opens the database of a run.

    A write-protected file is opened read-only, or as a copy if its writer was killed.

    Args:
        path: the file.
        read_only: whether to write neither to the file nor to its directory; another process may write at the same time. The
            integrity of the pages is not checked: this takes long, and monitoring opens the file repeatedly.

    Raises:
        RunError: if the file does not exist, is damaged, is not a database of this suite, or has another schema version. It is
            not changed.
    """
    _check_file(path)
    if not read_only and os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        db = SqliteDatabase(path, lambda: _connect_to_write(path))
    else:
        db = _reading(path, _READING_SECONDS if read_only else 30)
    with closed_on_error(db):
        _check(path, db, with_pages=not read_only)
    return db


def _connect(where: str, timeout: float = 30) -> sqlite3.Connection:
    return sqlite3.connect(where, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)


def _connect_to_write(path: Path) -> sqlite3.Connection:
    connection = _connect(path.absolute().as_uri())
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_OF_LOG}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _reading(path: Path, timeout: float) -> SqliteDatabase:
    """Connects without writing to the file or its directory.

    Raises:
        RunError: if it cannot be read.
    """
    log, index, url = _log_of(path), path.with_name(f"{path.name}-shm"), path.absolute().as_uri()
    if not log.exists():  # no writer, and SQLite would create a log even for reading
        return SqliteDatabase(path, lambda: _connect(f"{url}?immutable=1", timeout))
    if index.exists():
        return SqliteDatabase(path, lambda: _connect(f"{url}?mode=ro", timeout))
    # The writer was killed: SQLite would create an index of the log for reading.
    copy = _copy(path, log)
    return SqliteDatabase(path, lambda: copy, is_copy=True)


def _copy(path: Path, log: Path) -> sqlite3.Connection:
    """Returns a temporary copy of a database and its log."""
    with TemporaryDirectory() as folder:
        try:
            for file in (path, log):
                shutil.copyfile(file, Path(folder) / file.name)
            with closing(_connect((Path(folder) / path.name).as_uri())) as original:
                copy = _connect("")
                original.backup(copy)
        except (OSError, sqlite3.Error) as error:
            raise RunError(f"{path}: expected the database of a run, but it cannot be read: {error}") from error
    return copy


def _check_file(path: Path) -> None:
    """Checks that the file exists, and that an empty one has no log, since SQLite would delete the log even for reading."""
    if not path.exists():
        raise RunError(f"{path}: expected the database of a run, but it does not exist")
    log = _log_of(path)
    if not path.stat().st_size and log.exists() and log.stat().st_size:
        raise _damaged(path, f"it is empty, but its log {log.name} is not")


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _check(path: Path, db: SqliteDatabase, *, with_pages: bool) -> None:
    """Checks the version and the pages, and that no table, index, view or trigger is missing, added or changed."""
    (application,) = db.command("PRAGMA application_id").one()
    if application != APPLICATION_ID:
        raise RunError(f"{path}: this database was not written by llmarena; nothing in it was changed")
    (version,) = db.command("PRAGMA user_version").one()
    if version != SCHEMA_VERSION:
        raise RunError(
            f"{path}: expected schema version {SCHEMA_VERSION}, got {version}: it was written by"
            f" {'a newer' if version > SCHEMA_VERSION else 'an older'} version of llmarena-envs; install that version to read it"
        )
    if with_pages:
        (verdict,) = db.command("PRAGMA quick_check(1)").one()
        if verdict != "ok":
            raise _damaged(path, " ".join(verdict.split()))
    expected = {name: statement.split() for name, statement in creation(_DIALECT).items()}
    rows = db.all(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    found = {name: statement.split() for name, statement in rows}
    if strange := sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name)):
        raise _damaged(path, f"not as they were made: {', '.join(strange)}")


def _damaged(path: Path, what: str) -> RunError:
    return RunError(
        f"{path}: the database is damaged ({what}); nothing in it was changed; recover a copy with: sqlite3 {path.name} .recover"
    )


def _store_error(name: str, error: BaseException) -> StoreError:
    safe = "; everything recorded is safe, and the run goes on when there is room"
    return StoreError(f"{name}: the database of the run cannot be used: {error}{safe if 'full' in str(error) else ''}")
