"""A run in one engine copied into another: every row as it stands, so that every seal stays the same."""

from collections.abc import Iterator
from itertools import islice

from rating.errors import RunError
from rating.records import audit
from rating.records.sql import Sql

_COLUMNS = {
    "fact": ("name", "value"),
    "match": (
        *("id", "environment", "number", "policies", "seed", "options", "status"),
        *("tries", "turns", "seats", "digest", "error", "seal"),
    ),
    "turn": ("match", "number", "payload", "seal"),
    "transcript": ("match", "turns"),
    "dictionary": ("environment", "data"),
}
_ROWS = 100
"""Rows that are written at once: the way to a server is taken once for all of them."""


def copy_run(source: Sql, target: Sql) -> None:
    """Copies everything recorded of a run but its calls, within a transaction of the target.

    Args:
        source: the run; nobody writes into it meanwhile.
        target: the tables of a run of which nothing was recorded.
    """
    for table, columns in _COLUMNS.items():
        rows = source.rows(f"SELECT {', '.join(columns)} FROM {table}")
        row_marks = f"({', '.join('?' * len(columns))})"
        while batch := list(islice(rows, _ROWS)):
            values = (value for row in batch for value in row)
            target.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row_marks] * len(batch))}", *values
            )


def check_sound(db: Sql) -> None:
    """Checks that everything of a run is as it was recorded; one that was killed has no seal and is sound all the same.

    Raises:
        RunError: if something is not.
    """
    found = next(_damage(db), None)
    if found is not None:
        raise RunError(f"{db.name}: the record of this run is damaged ({found}); all of it: llmarena replay --verify")


def check_same(source: Sql, target: Sql) -> None:
    """Checks that a run is the copy of another one, and sound.

    Raises:
        RunError: if it is not.
    """
    check_sound(target)
    if (audit.seal_contents(source), audit.stored_head(source)) != (
        audit.seal_contents(target),
        audit.stored_head(target),
    ):
        raise RunError(f"{target.name}: expected a copy of {source.name}, but something else is recorded there")


def _damage(db: Sql) -> Iterator[str]:
    is_sealed = bool(audit.stored_head(db))
    return (found for found in audit.differences(db) if is_sealed or found != audit.UNSEALED)
