"""The tables of a run in PostgreSQL: a schema of its own, and what is checked before it is used."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    TIMESTAMP,
    BigInteger,
    Column,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

VERSION = 1
"""Of these tables."""

METADATA = MetaData()


def text(name: str, *, key: bool = False, null: bool = False, default: str | None = None) -> Column[str]:
    """Returns a column of texts, in the order of their characters' numbers as everywhere else."""
    return Column(name, Text(collation="C"), primary_key=key, nullable=null, server_default=default)


def integer(name: str, *, key: bool = False, null: bool = False, default: int | None = None) -> Column[int]:
    """Returns a column of integers; nothing counts them up."""
    preset = None if default is None else str(default)
    return Column(name, BigInteger, primary_key=key, nullable=null, autoincrement=False, server_default=preset)


def counted(name: str, *, key: bool = False) -> Column[int]:
    """Returns a column of integers that PostgreSQL counts up."""
    return Column(name, BigInteger, Identity(always=True), primary_key=key, nullable=False)


def moment(name: str, *, null: bool = False) -> Column[Any]:
    """Returns a column of moments by the clock of the database."""
    return Column(name, TIMESTAMP(timezone=True), nullable=null)


def data(name: str) -> Column[bytes]:
    """Returns a column of bytes."""
    return Column(name, LargeBinary, nullable=False)


Table("fact", METADATA, text("name", key=True), text("value"))
Table(
    "match",
    METADATA,
    text("id", key=True),
    text("environment"),
    integer("number"),
    text("policies"),
    text("seed"),
    text("options"),
    text("status"),
    integer("tries"),
    integer("turns"),
    text("seats"),
    text("digest"),
    text("error"),
    text("seal"),
    UniqueConstraint("environment", "number"),
)
Table("turn", METADATA, text("match", key=True), integer("number", key=True), text("payload"), text("seal"))
Table("transcript", METADATA, text("match", key=True), data("turns"))
Table("dictionary", METADATA, text("environment", key=True), data("data"))

_PACKED = (("transcript", "turns"), ("dictionary", "data"))
"""What PostgreSQL would try in vain to compress."""

claim = Table(
    "claim",
    METADATA,
    text("match", key=True),
    counted("place"),
    text("kind"),
    text("worker", null=True),
    moment("since", null=True),
    integer("deaths", default=0),
    text("answer", null=True),
)
Index("claim_offered", claim.c.kind, claim.c.place, postgresql_where=sql("worker IS NULL AND answer IS NULL"))
Index("claim_held", claim.c.worker, postgresql_where=sql("worker IS NOT NULL AND answer IS NULL"))
Index("claim_answered", claim.c.match, postgresql_where=sql("answer IS NOT NULL"))
Table(
    "worker",
    METADATA,
    text("id", key=True),
    counted("number"),
    integer("coordinates"),
    text("name"),
    text("host"),
    integer("process"),
    text("executor"),
    integer("capacity"),
    text("state"),
    integer("lease"),
    moment("began"),
    moment("seen"),
    moment("until"),
    integer("playing", default=0),
    integer("played", default=0),
    integer("turns", default=0),
    integer("lost", default=0),
    text("error", default=""),
)
call = Table("call", METADATA, counted("id", key=True), text("worker"), integer("number", null=True), text("line"))
Index("call_ended", call.c.worker, call.c.number, postgresql_where=sql("number IS NOT NULL"))
Index("call_under_way", call.c.worker, postgresql_where=sql("number IS NULL"))

_BUSY = ("claim", "worker")
"""Tables whose rows come and go or change all the time: they are small, and stay so if they are cleaned often."""

_CLEANED_OFTEN = "fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000"

WORKER, READER = "llmarena_worker", "llmarena_reader"
"""Roles that get their rights when a run is begun, where the database has them."""

_RIGHTS = {
    "fact": (),
    "match": ("UPDATE (status, tries, turns, seats, digest, error, seal)",),
    "turn": ("INSERT", "DELETE"),
    "transcript": ("INSERT",),
    "dictionary": ("INSERT",),
    "claim": ("UPDATE (worker, since, answer)",),
    "worker": ("INSERT", "UPDATE (state, seen, until, playing, played, turns, lost, error)"),
    "call": ("INSERT", "UPDATE (line, number)"),
}
"""Rights of workers in each table, besides SELECT."""

_CLAIMED = "EXISTS (SELECT 1 FROM claim WHERE claim.match = {} AND claim.worker IS NOT NULL AND claim.answer IS NULL)"

_LIMITS = {
    "match": _CLAIMED.format("match.id"),
    "turn": _CLAIMED.format("turn.match"),
    "transcript": _CLAIMED.format("transcript.match"),
    "worker": "coordinates = 0",
}
"""Rows that roles other than the owner may write: of matches that are claimed and not answered, and of workers."""

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]

MARK = "llmarena-envs: a run, version "
"""Begins the comment on a schema that is a run's."""

FIND_COMMENT = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = ?"

FIND_RUNS = f"""
SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace
WHERE obj_description(oid, 'pg_namespace') LIKE '{MARK}%' ORDER BY nspname
"""

FIND_COLUMNS = """
SELECT class.relname, attribute.attname, format_type(attribute.atttypid, NULL), attribute.attnotnull
FROM pg_class AS class
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
WHERE class.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?) AND class.relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT class.relname, trigger.tgname, 'trigger', TRUE
FROM pg_trigger AS trigger JOIN pg_class AS class ON class.oid = trigger.tgrelid
WHERE class.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?) AND NOT trigger.tgisinternal
"""


def creation(schema: str, roles: Iterable[str]) -> list[str]:
    """Returns the statements that make the tables of a new run; all in one transaction.

    Args:
        schema: name of the schema.
        roles: ``WORKER`` and ``READER``, as far as the database has them.
    """
    statements: list[str] = [f'CREATE SCHEMA "{schema}"', comment(schema)]
    for table in METADATA.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=_DIALECT)))
        if table.name in _BUSY:
            statements.append(f"ALTER TABLE {table.name} SET ({_CLEANED_OFTEN})")
        statements += [str(CreateIndex(index).compile(dialect=_DIALECT)) for index in sorted(table.indexes, key=str)]
    for name, column in _PACKED:
        statements.append(f"ALTER TABLE {name} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    for name, rows in _LIMITS.items():
        statements.append(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        statements.append(f"CREATE POLICY looks ON {name} FOR SELECT USING (true)")
        statements += [_policy(name, right.split()[0], rows) for right in _RIGHTS[name]]
    for role in roles:
        statements.append(f'REVOKE ALL ON ALL TABLES IN SCHEMA "{schema}" FROM {role}')  # what is granted by default
        statements.append(f'GRANT USAGE ON SCHEMA "{schema}" TO {role}')
        for name, rights in _RIGHTS.items():
            granted = ("SELECT", *rights) if role == WORKER else ("SELECT",)
            statements.append(f"GRANT {', '.join(granted)} ON {name} TO {role}")
    return statements


def _policy(table: str, command: str, rows: str) -> str:
    """Returns the statement that limits a command to certain rows."""
    limit = "WITH CHECK" if command == "INSERT" else "USING"
    return f"CREATE POLICY {command.lower()}s ON {table} FOR {command} {limit} ({rows})"


def comment(schema: str) -> str:
    """Returns the statement that marks the schema of a run as one of this version."""
    return f"COMMENT ON SCHEMA \"{schema}\" IS '{MARK}{VERSION}'"


def too_new(name: str, version: int) -> str:
    """Says that a run was written by a newer version than this one."""
    return (
        f"{name}: expected schema version {VERSION}, got {version}: it was written by a newer version of llmarena-envs;"
        " install that version to read it"
    )


def version_of(comment: str | None) -> int | None:
    """Returns the version of the tables of a schema with this comment, or ``None`` if it is not a run's."""
    number = comment.removeprefix(MARK) if comment and comment.startswith(MARK) else ""
    return int(number) if number.isdecimal() else None


def strange_tables(found: list[tuple[str, str, str, bool]]) -> list[str]:
    """Returns the names of tables that are not as this version makes them, or are missing.

    Args:
        found: the result of ``FIND_COLUMNS``.
    """
    columns = {(table, column, kind, bool(required)) for table, column, kind, required in found}
    return sorted({table for table, *_ in columns ^ _expected()})


def _expected() -> set[tuple[str, str, str, bool]]:
    return {
        (table.name, column.name, column.type.compile(_DIALECT).split(" COLLATE")[0].lower(), not column.nullable)
        for table in METADATA.sorted_tables
        for column in table.columns
    }
