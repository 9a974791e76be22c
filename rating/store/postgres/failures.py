"""Converts PostgreSQL errors into errors that say what to do."""

from collections.abc import Awaitable
from typing import TypeVar

import asyncpg
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_dbapi
from sqlalchemy.exc import SQLAlchemyError

from rating.errors import StoreError
from rating.store.sql import TransactionLost

T = TypeVar("T")

_LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)
UNDONE = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
"""Errors of a transaction rolled back because of another one; the connection stays usable."""

FAILED = (*_LOST, asyncpg.PostgresError, UnicodeError)
"""Errors raised by asyncpg and the operating system."""


async def explained(doing: Awaitable[T], name: str) -> T:
    """Awaits a database operation and converts its errors.

    Args:
        doing: awaitable of asyncpg or SQLAlchemy.
        name: name of the database in messages.

    Raises:
        TransactionLost: if the connection was lost or the transaction was rolled back.
        StoreError: on other errors, e.g. missing permission, an invalid statement or a full disk.
    """
    try:
        return await doing
    except (*FAILED, SQLAlchemyError) as error:
        cause: BaseException = error
        while isinstance(cause, SQLAlchemyError | AsyncAdapt_asyncpg_dbapi.Error) and cause.__cause__ is not None:
            cause = cause.__cause__  # SQLAlchemy wraps the errors of asyncpg
        if isinstance(cause, (*_LOST, *UNDONE)) and not isinstance(cause, asyncpg.DataError):
            raise TransactionLost(f"{name}: {_said(cause)}") from cause
        raise StoreError(f"{name}: {_said(cause)}") from cause


def _said(error: BaseException) -> str:
    text = f"{error}" or type(error).__name__
    if isinstance(error, asyncpg.InvalidPasswordError | asyncpg.InvalidAuthorizationSpecificationError):
        return f"{text}; set PGPASSWORD, or PGPASSFILE"
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        return f"{text}; make it: createdb NAME"
    if isinstance(error, asyncpg.InsufficientPrivilegeError):
        return f"{text}; its owner has to grant that"
    return text if isinstance(error, asyncpg.PostgresError) else f"the database cannot be reached: {text}"
