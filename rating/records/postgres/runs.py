"""The runs that a database of PostgreSQL holds: how one is made, opened and deleted."""

from rating.errors import RunError, StoreError
from rating.records.postgres import schema
from rating.records.postgres.address import Address
from rating.records.postgres.connection import Postgres


def create(address: Address) -> Postgres:
    """Makes the tables of a new run, with the rights of who only reads.

    Raises:
        RunError: if there is a run of this name.
    """
    db = Postgres(address)
    try:
        db.lock()
        if db.exists():
            if not _is_empty(db):
                raise RunError(
                    f"{db.name}: expected a new name, but there is a run of this name; to name another one: ?run=NAME behind"
                    " the address; to go on with that one: llmarena resume DIR, with its directory or a copy of that"
                )
            db.execute(f'DROP SCHEMA "{address.schema}" CASCADE')  # its making was interrupted
        with db.transaction():
            statements = schema.creation(address.schema)
            if db.row("SELECT 1 FROM pg_roles WHERE rolname = ?", schema.READER):
                statements += schema.rights_of_reader(address.schema)
            for statement in statements:
                db.execute(statement)
    except BaseException:
        db.close()
        raise
    return db


def open_existing(address: Address, *, read_only: bool = False) -> Postgres:
    """Opens the tables of a run.

    Args:
        address: of the run.
        read_only: whether it is only looked at.

    Raises:
        RunError: if there is none, it is damaged, or was written by another version. It is left as it is.
        StoreError: if this user may not use it.
    """
    db = Postgres(address, read_only=read_only)
    try:
        version = db.version()
        if version != schema.VERSION:
            raise RunError(
                f"{db.name}: expected schema version {schema.VERSION}, got {version}: it was written by another version of"
                " llmarena-envs; install that version to read it"
            )
        # Without the right its tables are not even found.
        if not db.all("SELECT 1 WHERE has_schema_privilege(?, 'USAGE')", address.schema):
            raise StoreError(
                f'{db.name}: permission denied for schema "{address.schema}"; its owner has to grant USAGE on it, and on its'
                " tables what is to be done with them"
            )
        if strange := db.strange_tables():
            raise RunError(f"{db.name}: the database is damaged (not as they were made: {', '.join(strange)})")
    except BaseException:
        db.close()
        raise
    return db


def drop(address: Address) -> None:
    """Deletes a run with everything that was recorded of it; nothing if there is none.

    Raises:
        RunError: if somebody plays it.
    """
    db = Postgres(address)
    try:
        db.lock()
        db.execute(f'DROP SCHEMA IF EXISTS "{address.schema}" CASCADE')
    finally:
        db.close()


def _is_empty(db: Postgres) -> bool:
    """Says whether a schema holds a run of which not even the first fact was recorded."""
    return (
        schema.version_of(db.comment()) == schema.VERSION
        and not db.strange_tables()
        and db.row("SELECT 1 FROM fact LIMIT 1") is None
    )
