"""Rows of files of other people: CSV, JSON lines or a JSON array, each with the place it stands in, for messages."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError

_DELIMITERS = ",;\t"


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the rows of a file by the names of their fields in lower case, with file and line.

    A file whose first character is a brace or a square bracket is JSON, every other one a table with a header.

    Raises:
        OptionError: naming file and line, if the file cannot be read, is no text, or a row is not what it should be.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: expected a file of judgements in UTF-8, but: {error}") from error
    start = text.lstrip()[:1]
    if start == "[":
        return _array(path, text)
    return _lines(path, text) if start == "{" else _table(path, text)


def _table(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=first.count))
    header: list[str] = []
    try:
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip().casefold() for cell in row]
                double = [name for name in header if name and header.count(name) > 1]
                if double:
                    raise OptionError(f"{where}: expected distinct columns, got {double[0]!r:.60} twice")
                continue
            if len(row) != len(header):
                raise OptionError(f"{where}: expected {len(header)} fields as in the header, got {len(row)}")
            yield where, {name: cell.strip() for name, cell in zip(header, row, strict=True)}
    except csv.Error as error:
        raise OptionError(f"{path}, line {reader.line_num}: expected CSV, but: {error}") from error


def _lines(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, _fields(where, _json(where, line))


def _array(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    entries = _json(f"{path}", text)
    for number, entry in enumerate(entries, 1):
        where = f"{path}, entry {number}"
        yield where, _fields(where, entry)


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{where}: expected JSON, but: {error}") from error


def _fields(where: str, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise OptionError(f"{where}: expected an object, got {str(entry)!r:.60}")
    return {name.strip().casefold(): value for name, value in entry.items()}


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {double!r:.60} stands there twice")
    return found
