"""PostgreSQL engine for the tables of a run."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

import asyncpg
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from llmarena_envs.core.options import nearest
from rating.errors import RunError, StoreError
from rating.store.postgres import schema
from rating.store.postgres.address import SCHEMA, Address
from rating.store.postgres.failures import FAILED, UNDONE, explained
from rating.store.postgres.loop import LoopThread
from rating.store.postgres.texts import from_stored, to_stored
from rating.store.sql import Row, TransactionLost

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds to wait for an unreachable server after a first successful connection."""

_PAUSES = (0.1, 5.0)
"""Initial and maximum seconds between attempts to connect."""
_GOODBYE = 0.1
"""Seconds to wait after a refused connection, for the server to close a TLS socket."""
_LATE = 2.0
"""Seconds for a busy server to notice that a client process was killed."""
_TIMEOUT = 120.0
"""Timeout of one statement, in seconds."""
_BATCH = 200
"""Number of rows per fetch."""

_SETTINGS = {
    "jit": "off",
    "default_transaction_isolation": "read committed",
    "statement_timeout": "0",  # overrides the timeout of the role; ``_TIMEOUT`` applies
    "synchronous_commit": "on",  # overrides the server default: confirmed commits survive a crash
    "lock_timeout": "60s",
    "idle_in_transaction_session_timeout": "30s",  # releases the locks of a stalled client
    "tcp_keepalives_idle": "30",  # releases the lock of a client on a dead machine
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}

_ENCODING = "UTF8"

_LOCK = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"


class Postgres:
    """A connection to the tables of one run; see ``Sql``.

    A lost connection is reopened. Reads are then repeated; writes raise ``TransactionLost``.

    Args:
        address: address of the run, or of a database.
        read_only: whether the server refuses writes.

    Raises:
        StoreError: if the server does not answer or refuses.
    """

    place = "id"
    is_copy = False

    def __init__(self, address: Address, *, read_only: bool = False) -> None:
        self.address = address
        self.name = str(address)
        self.in_transaction = False
        settings = {"application_name": f"llmarena {address.run}".strip(), **_SETTINGS}
        if address.run:
            settings["search_path"] = f'"{address.schema}"'
        if read_only:
            settings["default_transaction_read_only"] = "on"
        arguments = {**address.arguments(), "server_settings": settings, "command_timeout": _TIMEOUT, "timeout": 20}
        self._engine = create_async_engine(
            "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(**arguments), pool_size=1, max_overflow=16
        )
        self._held: AsyncConnection | None = None
        self._raw: Any = None
        self._reading: set[AsyncConnection] = set()
        self._is_locked = False
        self._patience = 0.0
        self._loop = LoopThread()
        try:
            self._run(self._main())
        except BaseException:
            with suppress(KeyboardInterrupt):
                self._loop.run(asyncio.sleep(_GOODBYE))
            self.close()
            raise
        self._patience = PATIENCE

    def exists(self) -> bool:
        """Returns whether a schema of this name exists, even if it is not a run."""
        return self.row("SELECT 1 FROM pg_namespace WHERE nspname = ?", self.address.schema) is not None

    def comment(self) -> str:
        """Returns the comment on the schema; empty if there is no comment or no schema."""
        found = self.row(schema.FIND_COMMENT, self.address.schema)
        return str(found[0] or "") if found else ""

    def version(self) -> int:
        """Returns the version of the tables."""
        version = schema.version_of(self.comment())
        if version is None:
            runs = [name.removeprefix(SCHEMA) for name, _ in self.all(schema.FIND_RUNS)]
            raise RunError(
                f"{self.name}: expected a run, but there is none of this name{nearest(self.address.run, runs)}"
            )
        return version

    def execute(self, sql: str, *values: Any) -> int:
        """Executes a statement."""
        status: str = self._do(lambda connection: connection.execute(*_prepared(sql, values)), repeat=False)
        count = status.rpartition(" ")[2]
        return int(count) if count.isdecimal() else 0

    def row(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row of a query."""
        found = self._do(lambda connection: connection.fetchrow(*_prepared(sql, values)), repeat=_only_reads(sql))
        return None if found is None else _read(found)

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns all rows of a query."""
        found = self._do(lambda connection: connection.fetch(*_prepared(sql, values)), repeat=_only_reads(sql))
        return [_read(row) for row in found]

    def rows(self, sql: str, *values: Any) -> Iterator[Row]:
        """Yields the rows of a query, as seen by the open transaction or else from one snapshot."""
        if self.in_transaction:
            yield from self.all(sql, *values)
            return
        connection, cursor = self._run(self._begin_to_read(sql, values))
        try:
            while batch := self._run(explained(cursor.fetch(_BATCH), self.name)):
                for row in batch:
                    yield _read(row)
        finally:
            self._loop.see_to(self._end_reading(connection))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Runs the statements of the block in one transaction."""
        if self.in_transaction:
            raise StoreError(f"{self.name}: expected one transaction at a time")
        self._do(lambda connection: connection.execute("BEGIN"), repeat=True)
        self.in_transaction = True
        try:
            yield
            status = self._do(lambda connection: connection.execute("COMMIT"), repeat=False)
            if status != "COMMIT":
                raise StoreError(f"{self.name}: nothing was written, since a statement of the transaction had failed")
        except BaseException:
            with suppress(StoreError):
                self._do(lambda connection: connection.execute("ROLLBACK"), repeat=False)
            raise
        finally:
            self.in_transaction = False

    def lock(self) -> None:
        """Takes an advisory lock, again after each reconnection."""
        if not self._do(lambda connection: self._take_lock(connection, _LATE), repeat=True):
            raise RunError(f"{self.name}: another process is playing this run; wait for it or stop it")
        self._is_locked = True

    def changes(self) -> int:
        """Returns PostgreSQL's count of written rows, which lags by a few seconds."""
        row = self.row(
            "SELECT CAST(sum(n_tup_ins + n_tup_upd + n_tup_del) AS bigint) FROM pg_stat_user_tables WHERE schemaname = ?",
            self.address.schema,
        )
        return row[0] or 0 if row else 0

    def flaws(self) -> Iterator[str]:
        """Yields tables that were changed; PostgreSQL itself enforces the types of values."""
        for table in self.strange_tables():
            yield f"table {table}: not as it was made"

    def strange_tables(self) -> list[str]:
        """Returns the names of tables that are missing, added or changed."""
        return schema.strange_tables(self.all(schema.FIND_COLUMNS, self.address.schema, self.address.schema))

    def close(self) -> None:
        """Closes all connections and rolls back an open transaction."""
        if self._loop.is_closed:
            return
        with suppress(StoreError):
            self._loop.run(self._close())
        self._loop.close()

    def _do(self, action: Callable[[Any], Awaitable[T]], *, repeat: bool) -> T:
        """Calls ``action``, a second time if the connection was lost.

        Args:
            action: called with the connection.
            repeat: whether ``action`` is idempotent.
        """
        try:
            return self._run(self._act(action))
        except TransactionLost:
            if self.in_transaction or not repeat:
                raise
        return self._run(self._act(action))

    async def _act(self, action: Callable[[Any], Awaitable[T]]) -> T:
        connection = self._raw if self.in_transaction else await self._main()
        if connection is None or connection.is_closed():
            raise TransactionLost(f"{self.name}: the connection was lost in a transaction")
        try:
            return await explained(action(connection), self.name)
        except TransactionLost as error:
            if not isinstance(error.__cause__, UNDONE):
                await self._drop()
            raise
        except asyncio.CancelledError:  # the wait was interrupted: the connection is unusable
            await self._drop()
            raise

    def _run(self, coroutine: Any) -> Any:
        return self._loop.run(coroutine)

    async def _main(self) -> Any:
        """Returns the main connection, reopened if it was lost."""
        if self._raw is not None:
            if not self._raw.is_closed():
                return self._raw
            await self._drop()
        self._held = await self._connect()
        self._raw = await _raw(self._held)
        if (encoding := self._raw.get_settings().server_encoding) != _ENCODING:
            raise StoreError(
                f"{self.name}: expected a database in {_ENCODING}, which has a place for every character, got one in {encoding};"
                " make another one: createdb --template=template0 --locale=C --encoding=UTF8 NAME"
            )
        if self._is_locked:
            await self._lock_again(self._raw)
        return self._raw

    async def _connect(self) -> AsyncConnection:
        """Opens a connection, with retries while the server is unreachable."""
        pause, end = _PAUSES[0], asyncio.get_running_loop().time() + self._patience
        while True:
            try:
                return await explained(self._engine.connect(), self.name)
            except TransactionLost as error:
                is_starting = isinstance(error.__cause__, asyncpg.CannotConnectNowError)
                left = end - asyncio.get_running_loop().time() + (PATIENCE - self._patience) * is_starting
                if left <= 0:
                    raise StoreError(str(error)) from error
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, _PAUSES[1])

    async def _lock_again(self, connection: Any) -> None:
        """Takes the lock on a new connection."""
        if not await explained(self._take_lock(connection, PATIENCE), self.name):
            await self._drop()
            raise StoreError(f"{self.name}: another process has begun to play this run while the connection was lost")

    async def _take_lock(self, connection: Any, patience: float) -> bool:
        """Waits up to ``patience`` seconds for the lock and returns whether it was taken."""
        time = asyncio.get_running_loop().time
        end = time() + patience
        while not await connection.fetchval(_LOCK, self.address.schema):
            if time() > end:
                return False
            await asyncio.sleep(_PAUSES[0])
        return True

    async def _drop(self) -> None:
        held, self._held, self._raw = self._held, None, None
        if held is not None:
            await _discard(held)

    async def _begin_to_read(self, sql: str, values: Row) -> tuple[AsyncConnection, Any]:
        for tries_left in (1, 0):
            connection = await self._connect()
            self._reading.add(connection)
            try:
                raw = await _raw(connection)
                begin = (
                    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0"
                )
                await explained(raw.execute(begin), self.name)
                return connection, await explained(raw.cursor(*_prepared(sql, values)), self.name)
            except BaseException as error:
                await self._end_reading(connection)
                if not isinstance(error, TransactionLost) or not tries_left:
                    raise
        raise AssertionError("one of the tries has returned or raised")

    async def _end_reading(self, connection: AsyncConnection) -> None:
        if connection in self._reading:
            self._reading.remove(connection)
            try:
                await (await _raw(connection)).execute("ROLLBACK")
                await connection.close()
            except (*FAILED, SQLAlchemyError):
                await _discard(connection)

    async def _close(self) -> None:
        for connection in [*self._reading]:
            await self._end_reading(connection)
        await self._drop()
        await explained(self._engine.dispose(), self.name)


async def _raw(connection: AsyncConnection) -> Any:
    """Returns the underlying asyncpg connection."""
    return (await connection.get_raw_connection()).driver_connection


async def _discard(connection: AsyncConnection) -> None:
    """Closes an unusable connection."""
    try:
        with suppress(*FAILED):
            await connection.invalidate()
    finally:
        with suppress(*FAILED):
            await connection.close()


def _prepared(sql: str, values: Row) -> tuple[Any, ...]:
    return _numbered(sql), *map(to_stored, values)


@cache
def _numbered(sql: str) -> str:
    """Returns the SQL with ``?`` replaced by ``$1``, ``$2`` and so on."""
    first, *parts = sql.split("?")
    return first + "".join(f"${number}{part}" for number, part in enumerate(parts, start=1))


def _only_reads(sql: str) -> bool:
    return sql.lstrip().startswith("SELECT")


def _read(row: Any) -> Row:
    return tuple(map(from_stored, row))
