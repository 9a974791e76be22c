"""Creates, opens and deletes runs in a PostgreSQL database."""

from rating.errors import RunError, StoreError
from rating.store.postgres import schema
from rating.store.postgres.address import Address
from rating.store.postgres.connection import Postgres


def create(address: Address) -> Postgres:
    """Creates the tables of a new run, readable by ``schema.READER``.

    Raises:
        RunError: if a run of this name exists.
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
            db.execute(f'DROP SCHEMA "{address.schema}" CASCADE')  # its creation was interrupted
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
        address: address of the run.
        read_only: whether to refuse writes.

    Raises:
        RunError: if it does not exist, is damaged, or was written by another version. It is not changed.
        StoreError: if the user has no access.
    """
    db = Postgres(address, read_only=read_only)
    try:
        version = db.version()
        if version != schema.VERSION:
            raise RunError(
                f"{db.name}: expected schema version {schema.VERSION}, got {version}: it was written by another version of"
                " llmarena-envs; install that version to read it"
            )
        # Without USAGE the tables are not found.
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
    """Deletes a run and its record; does nothing if it does not exist.

    Raises:
        RunError: if another process plays it.
    """
    db = Postgres(address)
    try:
        db.lock()
        db.execute(f'DROP SCHEMA IF EXISTS "{address.schema}" CASCADE')
    finally:
        db.close()


def _is_empty(db: Postgres) -> bool:
    """Returns whether a schema holds a run without any fact."""
    return (
        schema.version_of(db.comment()) == schema.VERSION
        and not db.strange_tables()
        and db.row("SELECT 1 FROM fact LIMIT 1") is None
    )
