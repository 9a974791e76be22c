"""A connection to the tables of a run, the same for SQLite and PostgreSQL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, CursorResult, Engine, Executable, Insert, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from rating.errors import StoreError
from rating.store import schema

T = TypeVar("T")

Row = tuple[Any, ...]
"""A row of a result, which behaves as a tuple."""

Values = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
"""Values of a statement by parameter name; a sequence executes the statement once for each element."""

_ATTEMPTS = 5
"""Maximum number of attempts at a write."""

BATCH = 200
"""Number of rows per fetch."""


class TransactionLost(StoreError):
    """A transaction was rolled back, or its outcome is unknown; idempotent ones can be retried."""


def repeated(write: Callable[[], T]) -> T:
    """Calls ``write``, again after ``TransactionLost``, and returns its result.

    Args:
        write: an idempotent write.

    Raises:
        TransactionLost: if every attempt was lost.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(TransactionLost):
            return write()
    return write()


class Database:
    """A connection to the tables of one run. Only one thread may use it at a time.

    Statements outside a transaction are committed at once.

    Args:
        engine: engine of the database; disposed with this object.
        name: name of the database in messages, without a password.

    Raises:
        StoreError: if the database cannot be opened; also raised by every method if the database fails.
    """

    row_key: ColumnElement[Any] = schema.match.c.id
    """Identifies a row of ``match`` even if its other values are damaged."""
    is_copy = False
    """Whether reads use a copy, without later writes to the original."""
    _begin = "BEGIN"

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self.in_transaction = False
        self._engine = engine
        self._connection: Connection | None = None

    def execute(self, statement: Executable, values: Values = None) -> CursorResult[Any]:
        """Executes a statement; a query outside a transaction is repeated once if the connection is lost."""
        try:
            return self._execute(statement, values)
        except TransactionLost:
            if self.in_transaction or not statement.is_select:
                raise
        return self._execute(statement, values)

    def row(self, query: Executable, values: Values = None) -> Row | None:
        """Returns the first row of a query, or ``None``."""
        result: Any = self.execute(query, values)
        with self._explained():
            row: Row | None = result.first()
        return row

    def all(self, query: Executable, values: Values = None) -> list[Row]:
        """Returns all rows of a query; for few rows."""
        return list(self._fetched(self.execute(query, values)))

    def rows(self, query: Executable, values: Values = None) -> Iterator[Row]:
        """Yields the rows of a query from one snapshot, unaffected by later writes; for many rows."""
        yield from self._fetched(self.execute(query, values))

    def pairs(self, query: Executable) -> dict[Any, Any]:
        """Returns first column -> second column of the rows of a query, in their order."""
        return {row[0]: row[1] for row in self.rows(query)}

    def insert_new(self, table: Table, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Inserts rows, except those that conflict with existing ones, and returns the number of inserted rows."""
        return self.execute(_insert_new(self._engine.dialect.name, table), rows).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Runs the statements of the block in one transaction, rolled back if the block raises.

        Raises:
            TransactionLost: if it was rolled back, or its outcome is unknown.
        """
        assert not self.in_transaction, "expected one transaction at a time"
        self.command(self._begin)
        self.in_transaction = True
        try:
            yield
            self.command("COMMIT")
        except BaseException:
            with suppress(StoreError):  # SQLite itself rolls back if the disk is full
                self.command("ROLLBACK")
            raise
        finally:
            self.in_transaction = False

    def command(self, sql: str) -> CursorResult[Any]:
        """Executes a command of the server or a setting, without parameters."""
        connection = self.connection()
        with self._explained():
            return connection.exec_driver_sql(sql)

    def connection(self) -> Connection:
        """Returns the connection, reopened if it was lost outside a transaction."""
        if self._connection is None or self._connection.invalidated:
            if self.in_transaction:
                raise TransactionLost(f"{self.name}: the connection was lost in a transaction")
            self._disconnect()
            self._connection = self._connect()
        return self._connection

    def lock(self) -> None:
        """Locks the run against other processes that play it, until the connection is closed.

        The lock of the run directory already protects a file.

        Raises:
            RunError: if another process plays it.
        """

    def changes(self) -> str | None:
        """Returns a text that changes with each write, or ``None`` if the files of the run show changes."""
        return None

    def flaws(self) -> Iterator[str]:
        """Yields defects of the database itself: of its file or its tables, or values of a wrong type."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes all connections and rolls back an open transaction."""
        self._disconnect()
        self._engine.dispose()

    def explain(self, error: SQLAlchemyError) -> StoreError:
        """Returns the error to raise for an error of the database."""
        raise NotImplementedError

    def _connect(self) -> Connection:
        with self._explained():
            return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()

    def _execute(self, statement: Executable, values: Values) -> CursorResult[Any]:
        connection = self.connection()
        with self._explained():
            return connection.execute(statement, values)

    def _fetched(self, result: Any) -> Iterator[Row]:
        with self._explained():
            for batch in result.partitions(BATCH):
                yield from batch

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise self.explain(error) from error


@contextmanager
def closed_on_error(db: Database) -> Iterator[None]:
    """Closes a database if the block raises."""
    try:
        yield
    except BaseException:
        db.close()
        raise


@cache
def _insert_new(dialect: str, table: Table) -> Insert:
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert(table).on_conflict_do_nothing()


def cause(error: BaseException) -> BaseException:
    """Returns the error of the driver behind an error of SQLAlchemy."""
    original = getattr(error, "orig", None)
    return original if isinstance(original, BaseException) else error
