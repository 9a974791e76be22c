"""Interface of the SQL engines that store a run."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any, Protocol, TypeVar

from rating.errors import StoreError

T = TypeVar("T")

Row = tuple[Any, ...]
"""Values of a row: strings, integers, bytes or ``None``."""


class TransactionLost(StoreError):
    """A transaction was rolled back, or its outcome is unknown; idempotent ones can be retried."""


_TRIES = 5
"""Maximum number of attempts at a write."""


def repeated(write: Callable[[], T]) -> T:
    """Calls ``write``, again after ``TransactionLost``, and returns its result.

    Args:
        write: an idempotent write.

    Raises:
        TransactionLost: if every attempt was lost.
    """
    for _ in range(_TRIES - 1):
        with suppress(TransactionLost):
            return write()
    return write()


class Sql(Protocol):
    """A connection to the tables of one run.

    The SQL is the subset that all engines support, with ``?`` for values. Only one thread may use it at a time. Every method
    raises ``StoreError`` if the engine fails; a transaction is rolled back then.
    """

    @property
    def name(self) -> str:
        """Name of the database in messages, without a password."""

    @property
    def is_copy(self) -> bool:
        """Whether reads use a copy, without later writes to the original."""

    @property
    def place(self) -> str:
        """Column that identifies a row of the table of matches even if its other values are damaged."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    def execute(self, sql: str, *values: Any) -> int:
        """Executes a statement and returns the number of rows it wrote; commits it unless in a transaction."""

    def row(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row of a query or of a statement that returns rows, or ``None``."""

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns all rows of a query or of a statement that returns rows; for few rows."""

    def rows(self, sql: str, *values: Any) -> Iterator[Row]:
        """Yields the rows of a query from one snapshot, unaffected by later writes; for many rows."""

    def transaction(self) -> AbstractContextManager[None]:
        """Runs the statements of the block in one transaction, rolled back if the block raises.

        Raises:
            StoreError: if a transaction is already open.
            TransactionLost: if it was rolled back, or its outcome is unknown.
        """

    def lock(self) -> None:
        """Locks the run against other processes that play it, until the connection is closed.

        Raises:
            RunError: if another process plays it.
        """

    def changes(self) -> int | None:
        """Returns a number that changes soon after each write, or ``None`` if the files of the run show changes."""

    def flaws(self) -> Iterator[str]:
        """Yields defects of the database itself: of its file or its tables, or values of a wrong type."""

    def close(self) -> None:
        """Closes the connection."""
