"""Records of a user's task file, each with the place it stands at, for errors that name it."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from llmarena_envs.core.options import OptionError

MAX_TEXT = 20_000
"""Greatest number of characters of a text in a task."""

_SHOWN = 80


class Record(NamedTuple):
    """A record.

    Attributes:
        where: its file and line.
        fields: its fields.
    """

    where: str
    fields: Mapping[str, Any]

    def error(self, message: str) -> OptionError:
        """Returns an error that names the place."""
        return OptionError(f"tasks: {self.where}: {message}")

    def text(self, name: str, default: str | None = None) -> str:
        """Returns a field that holds a text.

        Args:
            name: name of the field.
            default: what an absent or empty field stands for; without one the field must be there.

        Raises:
            OptionError: if the field holds no text, an empty one, or one that is too long.
        """
        value = self.fields.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            if default is None:
                raise self.error(f"expected a field {name!r} with a text, got fields {sorted(map(str, self.fields))}")
            return default
        if not isinstance(value, str):
            raise self.error(f"{name}: expected a text, got {value!r:.{_SHOWN}}")
        if len(value) > MAX_TEXT:
            raise self.error(f"{name}: expected at most {MAX_TEXT} characters, got {len(value)}")
        return value

    def name(self, name: str, default: str) -> str:
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


def given_records(records: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    """Yields the records of a list.

    Raises:
        OptionError: if it is none.
    """
    if not isinstance(records, Iterable) or isinstance(records, Mapping | bytes):
        raise OptionError(f"tasks: expected the path of a file or a list of records, got {records!r:.{_SHOWN}}")
    for number, fields in enumerate(records, start=1):
        yield _record(f"record {number}", fields)


def file_records(path: str | Path) -> Iterator[Record]:
    """Yields the records of a file in UTF-8: a table with tabs between its columns if its name ends in ``.tsv``, else JSONL.

    Raises:
        OptionError: if it cannot be read, or a line is malformed.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise OptionError(f"tasks: cannot read {str(path)!r}: {error}") from error
    lines = text.split("\n")
    yield from (_table_records if str(path).lower().endswith(".tsv") else json_records)(lines, str(path))


def json_records(lines: Iterable[str], where: str) -> Iterator[Record]:
    """Yields a record for each line that is not blank; see ``file_records``."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise OptionError(f"tasks: {place}: expected a JSON object, got {line!r:.{_SHOWN}} ({error})") from error
        yield _record(place, fields)


def _table_records(lines: Iterable[str], where: str) -> Iterator[Record]:
    columns: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        row = next(csv.reader([line.rstrip("\r")], delimiter="\t", quoting=csv.QUOTE_NONE))
        if not columns:
            columns = [name.strip().lower() for name in row]
            if "src" not in columns or len(set(columns)) < len(columns):
                raise OptionError(f"tasks: {place}: expected names of columns such as src, tgt and doc_id, got {row}")
        elif len(row) > len(columns):
            raise OptionError(f"tasks: {place}: expected {len(columns)} columns, got {len(row)}")
        else:
            yield Record(place, dict(zip(columns, row, strict=False)))


def _record(where: str, fields: object) -> Record:
    if not isinstance(fields, Mapping):
        raise OptionError(f"tasks: {where}: expected an object with fields, got {fields!r:.{_SHOWN}}")
    return Record(where, fields)
