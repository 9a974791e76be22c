"""Creates, opens and deletes runs in a PostgreSQL database: a schema for each run."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
from sqlalchemy import Connection, Executable, bindparam, create_engine, func, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import SQLAlchemyError

from llmarena_envs.core.options import nearest
from rating.errors import RunError, StoreError
from rating.store.address import SCHEMA, Address
from rating.store.engine import BATCH, Database, Row, TransactionLost, Values, cause, closed_on_error
from rating.store.schema import METADATA, PACKED, SCHEMA_VERSION, creation, fact

READER = "llmarena_reader"
"""Role with read access to new runs, if it exists in the database."""

PATIENCE = 60.0
"""Seconds to wait for an unreachable server after a first successful connection."""

_PAUSES = (0.1, 5.0)
"""Initial and maximum seconds between attempts to connect."""
_LATE = 2.0
"""Seconds for a busy server to notice that a client process was killed."""

_SETTINGS = {
    "jit": "off",
    "default_transaction_isolation": r"read\ committed",
    "statement_timeout": "120s",
    "synchronous_commit": "on",  # overrides the server default: confirmed commits survive a crash
    "standard_conforming_strings": "on",
    "lock_timeout": "60s",
    "idle_in_transaction_session_timeout": "30s",  # releases the locks of a stalled client
    "tcp_keepalives_idle": "30",  # releases the lock of a client on a dead machine
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_KEEPALIVE = {"connect_timeout": 20, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}

_ENCODING = "UTF8"

_MARK = "llmarena-envs: a run, version "
"""Prefix of the comment on the schema of a run."""

_UNDONE = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
"""Errors of a transaction rolled back because of another one."""
_LOST = (
    *_UNDONE,
    psycopg.errors.AdminShutdown,
    psycopg.errors.CrashShutdown,
    psycopg.errors.CannotConnectNow,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.TooManyConnections,
)
_ADVICE = {
    "password": "set PGPASSWORD, or PGPASSFILE",
    "does not exist": "make it: createdb NAME",
    "permission denied": "its owner has to grant that",
}
"""Text in an error message -> what to do."""

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]

_LOCK = select(func.pg_try_advisory_lock(func.hashtextextended(bindparam("schema"), 0)))

_COMMENT = text("SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = :schema")

_RUNS = text(
    "SELECT nspname FROM pg_namespace WHERE obj_description(oid, 'pg_namespace') LIKE :mark || '%' ORDER BY nspname"
)

_COLUMNS = text("""
SELECT class.relname, attribute.attname, format_type(attribute.atttypid, NULL), attribute.attnotnull
FROM pg_class AS class
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
WHERE class.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = :schema)
AND class.relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT class.relname, trigger.tgname, 'trigger', TRUE
FROM pg_trigger AS trigger JOIN pg_class AS class ON class.oid = trigger.tgrelid
WHERE class.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = :schema) AND NOT trigger.tgisinternal
""")

_SNAPSHOT = text("SELECT CAST(pg_current_snapshot() AS text)")


class PostgresDatabase(Database):
    """A connection to the tables of one run.

    A lost connection is reopened. Reads are then repeated; writes raise ``TransactionLost``.

    Args:
        address: address of the run, or of a database.
        read_only: whether the server refuses writes.

    Raises:
        StoreError: if the server does not answer or refuses.
    """

    def __init__(self, address: Address, *, read_only: bool = False) -> None:
        settings = {**_SETTINGS}
        if address.run:
            settings["search_path"] = f'"{address.schema}"'
        if read_only:
            settings["default_transaction_read_only"] = "on"
        arguments = {
            **_KEEPALIVE,
            **address.arguments(),
            "application_name": f"llmarena {address.run}".strip(),
            "client_encoding": "utf8",
            "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
        }
        engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: psycopg.connect(**arguments),
            pool_size=1,
            max_overflow=16,
            pool_pre_ping=True,
            use_native_hstore=False,
        )
        super().__init__(engine, str(address))
        self.address = address
        self._is_locked = False
        self._patience = 0.0
        with closed_on_error(self):
            self.connection()
        self._patience = PATIENCE

    def rows(self, query: Executable, values: Values = None) -> Iterator[Row]:
        """Yields the rows of a query, as seen by the open transaction or else from one snapshot."""
        if self.in_transaction:
            yield from self.all(query, values)
            return
        with self._explained(), self._engine.connect() as connection:
            connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            with closing(connection.execute(query, values, execution_options={"yield_per": BATCH})) as result:
                yield from self._fetched(result)

    def lock(self) -> None:
        """Takes an advisory lock, again after each reconnection."""
        if not self._wait_for_lock(lambda: self.row(_LOCK, {"schema": self.address.schema}), _LATE):
            raise RunError(f"{self.name}: another process is playing this run; wait for it or stop it")
        self._is_locked = True

    def changes(self) -> str:
        """Returns the transactions visible on the server, of all its runs."""
        ((snapshot,),) = self.all(_SNAPSHOT)
        return str(snapshot)

    def flaws(self) -> Iterator[str]:
        """Yields tables that were changed; PostgreSQL itself enforces the types of values."""
        for table in self.strange_tables():
            yield f"table {table}: not as it was made"

    def explain(self, error: SQLAlchemyError) -> StoreError:
        """Returns the error to raise for an error of psycopg."""
        original = cause(error)
        lines = str(original).strip().splitlines() or [type(original).__name__]
        said = "; ".join(line.strip() for line in lines if line.strip() and not line.startswith(("LINE", " ")))
        advice = next((f"; {advice}" for known, advice in _ADVICE.items() if known in said), "")
        is_lost = isinstance(original, _LOST) or getattr(error, "connection_invalidated", False)
        if is_lost or (isinstance(original, psycopg.OperationalError) and original.sqlstate is None):
            return TransactionLost(f"{self.name}: the database cannot be reached: {said}{advice}")
        return StoreError(f"{self.name}: {said}{advice}")

    def comment(self) -> str | None:
        """Returns the comment on the schema; ``None`` if there is no schema of this name."""
        row = self.row(_COMMENT, {"schema": self.address.schema})
        return None if row is None else str(row[0] or "")

    def strange_tables(self) -> list[str]:
        """Returns the names of tables that are missing, added or changed."""
        rows = self.all(_COLUMNS, {"schema": self.address.schema})
        expected = {
            (table.name, column.name, column.type.compile(_DIALECT).split(" COLLATE")[0].lower(), not column.nullable)
            for table in METADATA.sorted_tables
            for column in table.columns
        }
        return sorted({table for table, *_ in {tuple(row) for row in rows} ^ expected})

    def _connect(self) -> Connection:
        """Opens a connection, with retries while the server is unreachable; takes the lock again."""
        pause, end = _PAUSES[0], time.monotonic() + self._patience
        while True:
            try:
                connection = super()._connect()
                break
            except TransactionLost as error:
                left = end - time.monotonic()
                if left <= 0:
                    raise StoreError(str(error)) from error
            time.sleep(min(pause, left))
            pause = min(2 * pause, _PAUSES[1])
        driver: Any = connection.connection.driver_connection
        encoding = driver.info.parameter_status("server_encoding")
        if encoding != _ENCODING:
            connection.close()
            raise StoreError(
                f"{self.name}: expected a database in {_ENCODING}, which has a place for every character, got one in {encoding};"
                " make another one: createdb --template=template0 --locale=C --encoding=UTF8 NAME"
            )
        values = {"schema": self.address.schema}
        if self._is_locked and not self._wait_for_lock(lambda: connection.execute(_LOCK, values).one(), PATIENCE):
            connection.close()
            raise StoreError(f"{self.name}: another process has begun to play this run while the connection was lost")
        return connection

    def _wait_for_lock(self, attempt: Callable[[], Any], patience: float) -> bool:
        """Attempts to take the lock for up to ``patience`` seconds and returns whether it was taken."""
        end = time.monotonic() + patience
        with self._explained():
            while attempt() != (True,):
                if time.monotonic() > end:
                    return False
                time.sleep(_PAUSES[0])
        return True


def create(address: Address) -> PostgresDatabase:
    """Creates the tables of a new run, readable by ``READER``.

    Raises:
        RunError: if a run of this name exists.
    """
    db = PostgresDatabase(address)
    with closed_on_error(db):
        db.lock()
        if db.comment() is not None:
            if not _is_empty(db):
                raise RunError(
                    f"{db.name}: expected a new name, but there is a run of this name; to name another one: ?run=NAME behind"
                    " the address; to go on with that one: llmarena resume DIR, with its directory or a copy of that"
                )
            db.command(f'DROP SCHEMA "{address.schema}" CASCADE')  # its creation was interrupted
        with db.transaction():
            for statement in _creation(address.schema):
                db.command(statement)
            if db.row(text("SELECT 1 FROM pg_roles WHERE rolname = :name"), {"name": READER}):
                for statement in _rights_of_reader(address.schema):
                    db.command(statement)
    return db


def open_existing(address: Address, *, read_only: bool = False) -> PostgresDatabase:
    """Opens the tables of a run.

    Args:
        address: address of the run.
        read_only: whether to refuse writes.

    Raises:
        RunError: if it does not exist, is damaged, or was written by another version. It is not changed.
        StoreError: if the user has no access.
    """
    db = PostgresDatabase(address, read_only=read_only)
    with closed_on_error(db):
        _check(db)
    return db


def drop(address: Address) -> None:
    """Deletes a run and its record; does nothing if it does not exist.

    Raises:
        RunError: if another process plays it.
    """
    with closing(PostgresDatabase(address)) as db:
        db.lock()
        db.command(f'DROP SCHEMA IF EXISTS "{address.schema}" CASCADE')


def _check(db: PostgresDatabase) -> None:
    version = _version(db.comment())
    if version is None:
        runs = [name.removeprefix(SCHEMA) for (name,) in db.all(_RUNS, {"mark": _MARK})]
        raise RunError(f"{db.name}: expected a run, but there is none of this name{nearest(db.address.run, runs)}")
    if version != SCHEMA_VERSION:
        raise RunError(
            f"{db.name}: expected schema version {SCHEMA_VERSION}, got {version}: it was written by another version of"
            " llmarena-envs; install that version to read it"
        )
    # Without USAGE the tables are not found.
    if not db.all(select(1).where(func.has_schema_privilege(db.address.schema, "USAGE"))):
        raise StoreError(
            f'{db.name}: permission denied for schema "{db.address.schema}"; its owner has to grant USAGE on it, and on its'
            " tables what is to be done with them"
        )
    if strange := db.strange_tables():
        raise RunError(f"{db.name}: the database is damaged (not as they were made: {', '.join(strange)})")


def _version(comment: str | None) -> int | None:
    """Returns the version in the comment on a schema, or ``None`` if the schema is not a run."""
    number = comment.removeprefix(_MARK) if comment and comment.startswith(_MARK) else ""
    return int(number) if number.isdecimal() else None


def _is_empty(db: PostgresDatabase) -> bool:
    """Returns whether a schema holds a run without any fact."""
    is_run = _version(db.comment()) == SCHEMA_VERSION and not db.strange_tables()
    return is_run and db.row(select(fact.c.name).limit(1)) is None


def _creation(schema: str) -> list[str]:
    """Returns the statements that create the tables of a new run."""
    statements = [f'CREATE SCHEMA "{schema}"', f"COMMENT ON SCHEMA \"{schema}\" IS '{_MARK}{SCHEMA_VERSION}'"]
    statements += creation(_DIALECT).values()
    for column in PACKED:
        statements.append(f"ALTER TABLE {column.table.name} ALTER COLUMN {column.name} SET STORAGE EXTERNAL")
    return statements


def _rights_of_reader(schema: str) -> list[str]:
    """Returns the statements that grant ``READER`` read access to the tables of a run and nothing else."""
    return [
        f'REVOKE ALL ON ALL TABLES IN SCHEMA "{schema}" FROM {READER}',  # default privileges
        f'GRANT USAGE ON SCHEMA "{schema}" TO {READER}',
        f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO {READER}',
    ]
