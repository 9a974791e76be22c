"""Records of a user's file of tasks or questions, each with its location for error messages.

``RecordForm`` converts the records of one kind to rows; ``file_records`` and the other generators yield the records.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, TypeVar

from llmarena_envs.core.options import OptionError

MAX_TEXT = 20_000
"""Maximum number of characters of a text in a record."""

Refuse = Callable[[OptionError], None]
"""Handler of an invalid record: ``stop``, or e.g. the ``append`` of a list to continue with the other records."""

Given = str | Path | Sequence[Mapping[str, Any]]
"""The path of a file, or records."""


class Named(Protocol):
    """A row with a unique name in its file."""

    @property
    def id(self) -> str:
        """The name."""


Row = TypeVar("Row", bound=Named)
Found = TypeVar("Found")

_SHOWN = 80
_TABLES: dict[str, dict[str, Any]] = {
    ".tsv": {"delimiter": "\t", "quoting": csv.QUOTE_NONE},
    ".csv": {"delimiter": ",", "strict": True},
}


class Record(NamedTuple):
    """A record.

    Attributes:
        where: its option, file and line, e.g. ``tasks: problems.jsonl, line 3``.
        fields: its fields.
    """

    where: str
    fields: Mapping[str, Any]

    def error(self, message: str) -> OptionError:
        """Returns an error with the location of the record."""
        return OptionError(f"{self.where}: {message}")

    def text(self, name: str, default: str | None = None) -> str:
        """Returns a text field.

        Args:
            name: name of the field.
            default: value for an absent or empty field; without a default the field is required.

        Raises:
            OptionError: if the field is not a text, or is empty, too long or contains a lone surrogate.
        """
        value = self.fields.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            if default is None:
                raise self.error(f"expected a field {name!r} with a text, got fields {sorted(map(str, self.fields))}")
            return default
        if not isinstance(value, str):
            raise self.error(f"{name}: expected a text, got {value!r:.{_SHOWN}}")
        return self.checked(name, value)

    def checked(self, name: str, text: str) -> str:
        """Returns a text of the record after checks.

        Args:
            name: its position in the record.
            text: the text.

        Raises:
            OptionError: if it is too long, or contains a lone surrogate.
        """
        if len(text) > MAX_TEXT:
            raise self.error(f"{name}: expected at most {MAX_TEXT} characters, got {len(text)}")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(
                f"{name}: expected a text in Unicode, got one with half of a character: {text!r:.{_SHOWN}}"
            )
        return text

    def name(self, name: str, default: str | None = None) -> str:
        """Returns a name field: a text or an integer; ``default`` if it is absent."""
        value = self.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name, default)

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns a field with a list of texts; empty if it is absent."""
        value = self.fields.get(name) or []
        if (
            not isinstance(value, Sequence)
            or isinstance(value, str)
            or not all(isinstance(each, str) for each in value)
        ):
            raise self.error(f"{name}: expected a list of texts, got {value!r:.{_SHOWN}}")
        return tuple(value)


class Imported(NamedTuple, Generic[Found]):
    """The result of importing an untrusted file.

    Attributes:
        rows: rows of the valid records.
        refusals: errors of the other records, with their locations.
    """

    rows: tuple[Found, ...]
    refusals: tuple[OptionError, ...]


def stop(error: OptionError) -> NoReturn:
    """Raises the error: one invalid record invalidates the file."""
    raise error


@dataclass(frozen=True)
class RecordForm(Generic[Row]):
    """Conversion of the records of one kind, from files and lists, to rows.

    Attributes:
        option: name of their option, the prefix of errors.
        what: kind of row, e.g. ``task``.
        columns: column names of a table; the first one is required.
    """

    option: str
    what: str
    columns: Sequence[str]

    def load(self, given: Given, read: Callable[[Record], Row]) -> tuple[Row, ...]:
        """Returns the rows of the records.

        Args:
            given: a file or records.
            read: converts one record.

        Raises:
            OptionError: with file and line, if they cannot be read, ``read`` refuses one, an id is not unique, or there are no
                records.
        """
        return self.of_records(self.records(given), read)

    def imported(self, given: Given, read: Callable[[Record], Row]) -> Imported[Row]:
        """Returns the rows of the valid records, and the errors of the others; see ``load``.

        Raises:
            OptionError: if the file cannot be read.
        """
        refusals: list[OptionError] = []
        rows = self._distinct(self.records(given, refusals.append), read, refusals.append)
        return Imported(tuple(rows), tuple(refusals))

    def of_records(self, records: Iterable[Record], read: Callable[[Record], Row]) -> tuple[Row, ...]:
        """Returns the rows of existing records; see ``load``."""
        rows = tuple(self._distinct(records, read, stop))
        if not rows:
            raise OptionError(f"{self.option}: expected at least one {self.what}, got none")
        return rows

    def records(self, given: Given, refuse: Refuse = stop) -> Iterator[Record]:
        """Yields the records of a file or a list."""
        if isinstance(given, str | Path):
            return file_records(self.option, given, self.columns, refuse)
        return given_records(self.option, given, refuse)

    def _distinct(self, records: Iterable[Record], read: Callable[[Record], Row], refuse: Refuse) -> Iterator[Row]:
        places: dict[str, str] = {}
        for record in records:
            try:
                row = read(record)
                first = places.setdefault(row.id, record.where)
                if first != record.where:
                    raise record.error(
                        f"id: {row.id!r} occurs twice; first at {first.removeprefix(f'{self.option}: ')}"
                    )
            except OptionError as error:
                refuse(error)
            else:
                yield row


def given_records(option: str, records: Sequence[Mapping[str, Any]], refuse: Refuse = stop) -> Iterator[Record]:
    """Yields the records of a list.

    Args:
        option: name of the list's option, the prefix of errors.
        records: the list.
        refuse: called with the error for an invalid record.

    Raises:
        OptionError: if it is not a list.
    """
    if not isinstance(records, Iterable) or isinstance(records, Mapping | bytes):
        raise OptionError(f"{option}: expected the path of a file or a list of records, got {records!r:.{_SHOWN}}")
    for number, fields in enumerate(records, start=1):
        yield from _record(f"{option}: record {number}", fields, refuse)


def file_records(option: str, path: str | Path, columns: Sequence[str], refuse: Refuse = stop) -> Iterator[Record]:
    """Yields the records of a UTF-8 file.

    A file ``*.csv`` is a table with commas and optional quotes, ``*.tsv`` a table with tabs and no quotes; the first line names
    the columns. Any other file holds JSON lines, or one JSON list; errors then name the record number instead of the line.

    Args:
        option: name of the path's option, the prefix of errors.
        path: path of the file.
        columns: column names of a table; the first one is required.
        refuse: called with the error for a malformed line.

    Raises:
        OptionError: if it cannot be read, or a table does not begin with its column names.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise OptionError(f"{option}: cannot read {str(path)!r}: {error}") from error
    lines, where = text.split("\n"), f"{option}: {path}"
    kind = Path(path).suffix.lower()
    if kind in _TABLES:
        yield from _table_records(lines, where, columns, _TABLES[kind], refuse)
    elif (records := _json_list(text)) is not None:
        for number, fields in enumerate(records, start=1):
            yield from _record(f"{where}, record {number}", fields, refuse)
    else:
        yield from json_records(lines, where, refuse)


def json_records(lines: Iterable[str], where: str, refuse: Refuse = stop) -> Iterator[Record]:
    """Yields a record for each line that is not blank; see ``file_records``.

    Args:
        lines: the lines.
        where: their option and file.
        refuse: called with the error for a line that is not an object.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            refuse(OptionError(f"{place}: expected a JSON object, got {line!r:.{_SHOWN}} ({error})"))
        else:
            yield from _record(place, fields, refuse)


def _json_list(text: str) -> list[Any] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _table_records(
    lines: Iterable[str], where: str, columns: Sequence[str], form: Mapping[str, Any], refuse: Refuse
) -> Iterator[Record]:
    reader = csv.reader((f"{line}\n" for line in lines), **form)
    header: list[str] = []
    while True:
        place = f"{where}, line {reader.line_num + 1}"
        try:
            row = next(reader, None)
        except csv.Error as error:
            refuse(OptionError(f"{place}: expected a row of a table, but: {error}"))
            continue
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if not header:
            header = [name.strip().lower() for name in row]
            if columns[0] not in header or len(set(header)) < len(header):
                raise OptionError(f"{place}: expected names of columns such as {', '.join(columns)}, got {row!r:.200}")
        elif len(row) > len(header):
            refuse(OptionError(f"{place}: expected {len(header)} columns, got {len(row)}"))
        else:
            yield Record(place, dict(zip(header, row, strict=False)))


def _record(where: str, fields: object, refuse: Refuse) -> Iterator[Record]:
    if isinstance(fields, Mapping):
        yield Record(where, fields)
    else:
        refuse(OptionError(f"{where}: expected an object with fields, got {fields!r:.{_SHOWN}}"))
