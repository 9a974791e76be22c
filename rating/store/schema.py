"""The tables of a run, in SQLite and PostgreSQL."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.types import TypeDecorator, UserDefinedType

SCHEMA_VERSION = 4
"""Version of the tables."""

_ESCAPE = "\x1a"


class _EscapedText(TypeDecorator[str]):
    """A text column in PostgreSQL: sorted by code point as in Python and SQLite; NUL, which it cannot store, is escaped."""

    impl = Text(collation="C")
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Returns the escaped text."""
        if isinstance(value, str) and ("\0" in value or _ESCAPE in value):
            return value.replace(_ESCAPE, _ESCAPE + "1").replace("\0", _ESCAPE + "0")
        return value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Returns the unescaped text."""
        if isinstance(value, str) and _ESCAPE in value:
            return value.replace(_ESCAPE + "0", "\0").replace(_ESCAPE + "1", _ESCAPE)
        return value


class _Blob(UserDefinedType[bytes]):
    """A binary column in SQLite; values of another type are returned unchanged, and the reader reports the damage."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Returns the name of the type."""
        return "BLOB"


_TEXT = Text().with_variant(_EscapedText(), "postgresql")
_INTEGER = BigInteger().with_variant(Integer(), "sqlite")
_DATA = LargeBinary().with_variant(_Blob(), "sqlite")

METADATA = MetaData()


def _text(name: str, *, key: bool = False) -> Column[str]:
    return Column(name, _TEXT, primary_key=key, nullable=False)


def _integer(name: str, *, key: bool = False) -> Column[int]:
    return Column(name, _INTEGER, primary_key=key, nullable=False, autoincrement=False)


def _data(name: str) -> Column[bytes]:
    return Column(name, _DATA, nullable=False)


fact = Table("fact", METADATA, _text("name", key=True), _text("value"))
"""Facts about the run, e.g. the run file and versions."""

match = Table(
    "match",
    METADATA,
    _text("id", key=True),
    _text("environment"),
    _integer("number"),
    _text("policies"),
    _text("seed"),
    _text("options"),
    _text("status"),
    _integer("tries"),
    _integer("turns"),
    _text("seats"),
    _text("digest"),
    _text("error"),
    _text("seal"),
    UniqueConstraint("environment", "number"),
)
"""Matches and their outcomes. ``turns`` is the number of turns that ``seal`` covers."""

turn = Table("turn", METADATA, _text("match", key=True), _integer("number", key=True), _text("payload"), _text("seal"))
"""The journal: turns of matches in progress, one row each."""

transcript = Table("transcript", METADATA, _text("match", key=True), _data("turns"))
"""The packed turns of finished matches."""

dictionary = Table("dictionary", METADATA, _text("environment", key=True), _data("data"))
"""The compression dictionary shared by the matches of an environment."""

call = Table(
    "call",
    METADATA,
    Column("id", _INTEGER, Identity(always=True), primary_key=True, nullable=False),
    _integer("number"),
    _text("line"),
)
"""Model calls. A call in flight has the number 0."""

Index("call_number", call.c.number)


def creation(dialect: Dialect) -> dict[str, str]:
    """Returns name -> statement that creates it, for every table and index."""
    statements = {}
    for table in METADATA.sorted_tables:
        statements[table.name] = str(CreateTable(table).compile(dialect=dialect)).strip()
        statements |= {str(index.name): str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes}
    return statements


PACKED = (transcript.c.turns, dictionary.c.data)
"""Columns already compressed; PostgreSQL should not compress them."""
