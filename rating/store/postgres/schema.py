"""The PostgreSQL schema of a run, and checks before use."""

from sqlalchemy import (
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
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

VERSION = 2
"""Version of the tables."""

METADATA = MetaData()


def text(name: str, *, key: bool = False) -> Column[str]:
    """Returns a text column, sorted by code point like in Python and SQLite."""
    return Column(name, Text(collation="C"), primary_key=key, nullable=False)


def integer(name: str, *, key: bool = False) -> Column[int]:
    """Returns an integer column without auto-increment."""
    return Column(name, BigInteger, primary_key=key, nullable=False, autoincrement=False)


def data(name: str) -> Column[bytes]:
    """Returns a binary column."""
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
"""Columns already compressed; PostgreSQL should not compress them."""

call = Table(
    "call",
    METADATA,
    Column("id", BigInteger, Identity(always=True), primary_key=True, nullable=False),
    integer("number"),
    text("line"),
)
Index("call_number", call.c.number)

READER = "llmarena_reader"
"""Role with read access to new runs, if it exists in the database."""

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]

MARK = "llmarena-envs: a run, version "
"""Prefix of the comment on the schema of a run."""

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


def creation(schema: str) -> list[str]:
    """Returns the statements that create the tables of a new run, for one transaction.

    Args:
        schema: name of the schema.
    """
    statements: list[str] = [f'CREATE SCHEMA "{schema}"', comment(schema)]
    for table in METADATA.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=_DIALECT)))
        statements += [str(CreateIndex(index).compile(dialect=_DIALECT)) for index in sorted(table.indexes, key=str)]
    for name, column in _PACKED:
        statements.append(f"ALTER TABLE {name} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    return statements


def rights_of_reader(schema: str) -> list[str]:
    """Returns the statements that grant ``READER`` read access to the tables of a run and nothing else."""
    return [
        f'REVOKE ALL ON ALL TABLES IN SCHEMA "{schema}" FROM {READER}',  # default privileges
        f'GRANT USAGE ON SCHEMA "{schema}" TO {READER}',
        f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO {READER}',
    ]


def comment(schema: str) -> str:
    """Returns the statement that marks a schema as a run of this version."""
    return f"COMMENT ON SCHEMA \"{schema}\" IS '{MARK}{VERSION}'"


def version_of(comment: str | None) -> int | None:
    """Returns the version in the comment on a schema, or ``None`` if the schema is not a run."""
    number = comment.removeprefix(MARK) if comment and comment.startswith(MARK) else ""
    return int(number) if number.isdecimal() else None


def strange_tables(found: list[tuple[str, str, str, bool]]) -> list[str]:
    """Returns the names of tables that are missing, added or changed.

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
