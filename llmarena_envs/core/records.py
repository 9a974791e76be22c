"""Records of a user's file of tasks or questions, each with the place it stands at, for errors that name it.

``RecordForm`` reads what the records of one kind stand for; ``file_records`` and its neighbours yield the records themselves.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, TypeVar

from llmarena_envs.core.options import OptionError

MAX_TEXT = 20_000
"""Greatest number of characters of a text in a record."""

Refuse = Callable[[OptionError], None]
"""What is done about a record that cannot be used: ``stop``, or e.g. the ``append`` of a list, so that the others are read."""

Given = str | Path | Sequence[Mapping[str, Any]]
"""The path of a file, or records."""


class Named(Protocol):
    """What a record stands for: something with a name of its own in its file."""

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
        where: the option it was given by, its file and line, e.g. ``tasks: problems.jsonl, line 3``.
        fields: its fields.
    """

    where: str
    fields: Mapping[str, Any]

    def error(self, message: str) -> OptionError:
        """Returns an error that names the place."""
        return OptionError(f"{self.where}: {message}")

    def text(self, name: str, default: str | None = None) -> str:
        """Returns a field that holds a text.

        Args:
            name: name of the field.
            default: what an absent or empty field stands for; without one the field must be there.

        Raises:
            OptionError: if the field holds no text, an empty one, one that is too long, or half of a character.
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
        """Returns a text of the record.

        Args:
            name: where in the record it stands.
            text: the text.

        Raises:
            OptionError: if it is too long, or holds half of a character.
        """
        if len(text) > MAX_TEXT:
            raise self.error(f"{name}: expected at most {MAX_TEXT} characters, got {len(text)}")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(
                f"{name}: expected a text in Unicode, got one with half of a character: {text!r:.{_SHOWN}}"
            )
        return text

    def name(self, name: str, default: str | None = None) -> str:
        """Returns a field that holds a name: a text or an integer; ``default`` if it is absent."""
        value = self.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name, default)

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns a field that holds a list of texts, which may be absent."""
        value = self.fields.get(name) or []
        if (
            not isinstance(value, Sequence)
            or isinstance(value, str)
            or not all(isinstance(each, str) for each in value)
        ):
            raise self.error(f"{name}: expected a list of texts, got {value!r:.{_SHOWN}}")
        return tuple(value)


class Imported(NamedTuple, Generic[Found]):
    """What was read of a file that may hold anything.

    Attributes:
        rows: what its good records stand for.
        refusals: why the others were refused; each names the place.
    """

    rows: tuple[Found, ...]
    refusals: tuple[OptionError, ...]


def stop(error: OptionError) -> NoReturn:
    """Raises the error: one record that cannot be used spoils the file."""
    raise error


@dataclass(frozen=True)
class RecordForm(Generic[Row]):
    """How the records of one kind are read, from files and from lists.

    Attributes:
        option: what errors begin with, the name of the option by which they are given.
        what: what a record stands for, e.g. ``task``.
        columns: what a table's columns are called; the first one must be there.
    """

    option: str
    what: str
    columns: Sequence[str]

    def load(self, given: Given, read: Callable[[Record], Row]) -> tuple[Row, ...]:
        """Returns what the records stand for.

        Args:
            given: a file or records.
            read: reads one record.

        Raises:
            OptionError: naming file and line, if they cannot be read, ``read`` refuses one, an id occurs twice, or there is none.
        """
        return self.of_records(self.records(given), read)

    def imported(self, given: Given, read: Callable[[Record], Row]) -> Imported[Row]:
        """Returns what the good records stand for, and why the other ones are refused; see ``load``.

        Raises:
            OptionError: if the file cannot be read.
        """
        refusals: list[OptionError] = []
        rows = self._distinct(self.records(given, refusals.append), read, refusals.append)
        return Imported(tuple(rows), tuple(refusals))

    def of_records(self, records: Iterable[Record], read: Callable[[Record], Row]) -> tuple[Row, ...]:
        """Returns what records stand for that are there already; see ``load``."""
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
        option: what errors begin with, the name of the option by which the list was given.
        records: the list.
        refuse: is called with the error for what is no record.

    Raises:
        OptionError: if it is no list.
    """
    if not isinstance(records, Iterable) or isinstance(records, Mapping | bytes):
        raise OptionError(f"{option}: expected the path of a file or a list of records, got {records!r:.{_SHOWN}}")
    for number, fields in enumerate(records, start=1):
        yield from _record(f"{option}: record {number}", fields, refuse)


def file_records(option: str, path: str | Path, columns: Sequence[str], refuse: Refuse = stop) -> Iterator[Record]:
    """Yields the records of a file in UTF-8.

    A file ``*.csv`` is a table with commas and, where needed, quotes; ``*.tsv`` one with tabs and no quotes; the first line names
    the columns. Any other file holds JSON lines, or one JSON list, whose records are counted instead of lines.

    Args:
        option: what errors begin with, the name of the option by which the path was given.
        path: of the file.
        columns: what a table's columns are called; the first one must be there.
        refuse: is called with the error for a malformed line.

    Raises:
        OptionError: if it cannot be read, or a table does not begin with the names of its columns.
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
        where: the option they were given by, and their file.
        refuse: is called with the error for a line that holds anything but an object.
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
