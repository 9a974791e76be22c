"""What the store of a run needs of an engine of SQL, whichever it is."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any, Protocol, TypeVar

from rating.errors import StoreError

T = TypeVar("T")

Row = tuple[Any, ...]
"""Values of a row: texts, integers, bytes or ``None``."""


class TransactionLost(StoreError):
    """Whether a transaction was written is not known, or it was undone: it may be repeated if that does no harm."""


_TRIES = 5
"""How often something is written that is lost."""


def repeated(write: Callable[[], T]) -> T:
    """Returns what ``write`` returns, which is called again as long as it is not known whether it has written.

    Args:
        write: what it does no harm to do twice.

    Raises:
        TransactionLost: if every try was lost.
    """
    for _ in range(_TRIES - 1):
        with suppress(TransactionLost):
            return write()
    return write()


class Sql(Protocol):
    """A connection to the tables of one run.

    The SQL is what all engines understand, with ``?`` for values. One thread uses it at a time. Every method raises
    ``StoreError`` if the engine cannot do it; nothing of a transaction in which that happens is kept.
    """

    @property
    def name(self) -> str:
        """What messages call the database; never with a password."""

    @property
    def is_copy(self) -> bool:
        """Whether what is read is a copy, which shows nothing of what is written into the original later."""

    @property
    def place(self) -> str:
        """Column of the table of matches by which a row can be told even where its other values cannot be read."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is under way."""

    def execute(self, sql: str, *values: Any) -> int:
        """Executes a statement and returns how many rows it wrote; outside of a transaction it is one of its own."""

    def row(self, sql: str, *values: Any) -> Row | None:
        """Returns the first row of a query, also of one that writes, or ``None`` if it has none."""

    def all(self, sql: str, *values: Any) -> list[Row]:
        """Returns the rows of a query that has few, also of one that writes."""

    def rows(self, sql: str, *values: Any) -> Iterator[Row]:
        """Yields the rows of a query that may have many: all as of one moment, whatever is written meanwhile."""

    def transaction(self) -> AbstractContextManager[None]:
        """Makes one transaction of what is executed within: all of it is written, or nothing if anything is raised.

        Raises:
            StoreError: if there is one already.
            TransactionLost: if it is not known whether it was written, or it was undone for the sake of another.
        """

    def lock(self) -> None:
        """Keeps everybody else from playing the run, until this is closed.

        Raises:
            RunError: if somebody plays it.
        """

    def changes(self) -> int | None:
        """Returns a number that is another one soon after something was written; ``None`` where files of the run show that."""

    def flaws(self) -> Iterator[str]:
        """Yields what is wrong with the database below the tables: with its file, or with the types of values."""

    def close(self) -> None:
        """Closes the connection."""
