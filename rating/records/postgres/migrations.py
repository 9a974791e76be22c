"""Migrations of the tables of a run in PostgreSQL: how those of an older version become those of this one."""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from rating.errors import RunError
from rating.records.postgres import schema
from rating.records.postgres.address import Address
from rating.records.postgres.backup import back_up
from rating.records.postgres.connection import Postgres


class Migration(NamedTuple):
    """One step.

    Attributes:
        version: of the tables behind it; it begins with those of the version before.
        what: what it does.
        statements: SQL, executed in the schema of the run.
    """

    version: int
    what: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = ()
"""One for every version behind the first, in their order. None is ever changed once it has been published."""


def migrate(address: Address, backup: Path) -> list[str]:
    """Makes the tables of a run those of this version; nobody plays it meanwhile.

    Args:
        address: of the run.
        backup: what ``pg_restore`` reads, which is made if there is something to do.

    Returns:
        What was done.

    Raises:
        RunError: if the run is being played, cannot be backed up or was written by a newer version; nothing was changed then.
    """
    with closing(Postgres(address)) as db:
        steps = _pending(db)
        if not steps:
            return []
        db.lock()
        with db.transaction():
            db.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # nothing is asked while it is backed up
            if db.others_write():
                raise RunError(
                    f"{db.name}: expected nobody at work, but workers hold matches of this run; drain them first"
                )
            back_up(address, db, backup)
            _take(db, steps)
    return [f"schema version {step.version}: {step.what}" for step in steps]


def _pending(db: Postgres) -> list[Migration]:
    version = db.version()
    if version > schema.VERSION:
        raise RunError(schema.too_new(db.name, version))
    return [migration for migration in MIGRATIONS if migration.version > version]


def _take(db: Postgres, steps: list[Migration]) -> None:
    for step in steps:
        for statement in step.statements:
            db.execute(statement)
    db.execute(schema.comment(db.address.schema))
    if strange := db.strange_tables():
        raise RunError(
            f"{db.name}: expected the tables of an older version, but these were changed by somebody: {', '.join(strange)};"
            " nothing was migrated"
        )
