"""The runs that a database of PostgreSQL holds: how one is made, opened, deleted and found."""

from rating.errors import RunError
from rating.records.postgres import schema
from rating.records.postgres.address import SCHEMA, Address
from rating.records.postgres.connection import Postgres
from rating.records.sql import Refused


def create(address: Address) -> Postgres:
    """Makes the tables of a new run, with the rights of workers and readers.

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
                    " the address; to go on with that one from here: llmarena attach"
                )
            db.execute(f'DROP SCHEMA "{address.schema}" CASCADE')  # its making was interrupted
        with db.transaction():
            roles = db.all("SELECT rolname FROM pg_roles WHERE rolname IN (?, ?)", schema.WORKER, schema.READER)
            for statement in schema.creation(address.schema, [role for (role,) in roles]):
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
        Refused: if this user may not use it.
    """
    db = Postgres(address, read_only=read_only)
    try:
        version = db.version()
        if version > schema.VERSION:
            raise RunError(schema.too_new(db.name, version))
        if version < schema.VERSION:
            raise RunError(
                f"{db.name}: expected schema version {schema.VERSION}, got {version}: it was written by an older version of"
                " llmarena-envs; install that version to read it"
            )
        # Without the right its tables are not even found.
        if not db.all("SELECT 1 WHERE has_schema_privilege(?, 'USAGE')", address.schema):
            raise Refused(
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


def find_runs(address: Address) -> list[str]:
    """Returns the names of the runs in a database."""
    db = Postgres(address, read_only=True)
    try:
        return [name.removeprefix(SCHEMA) for name, _ in db.all(schema.FIND_RUNS)]
    finally:
        db.close()


def _is_empty(db: Postgres) -> bool:
    """Says whether a schema holds a run of which not even the first fact was recorded."""
    return (
        schema.version_of(db.comment()) == schema.VERSION
        and not db.strange_tables()
        and db.row("SELECT 1 FROM fact LIMIT 1") is None
    )
