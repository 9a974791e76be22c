"""Rows of external files: CSV, JSON lines or a JSON array, each with its place for messages.

Tables and JSON lines are read a row at a time. Rows and arrays are bounded, to limit memory use on hostile files.
"""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from llmarena_envs.core.options import OptionError

_DELIMITERS = ",;\t"

MAX_ROW = 1 << 24
"""Most characters of a row."""

MAX_ARRAY = 1 << 28
"""Most bytes of a JSON array."""

_CHUNK = 1 << 20


class UnreadableRow(NamedTuple):
    """A row that cannot be read.

    Attributes:
        reason: why it cannot be read.
    """

    reason: str


def each_row(
    path: Path, fold: Callable[[str], str] = str.casefold
) -> Iterator[tuple[str, dict[str, Any] | UnreadableRow]]:
    """Yields the rows of a file by field name, with the place in the file.

    A file that starts with a brace or a square bracket is JSON, any other a table with a header. NaN and infinite numbers are
    read as missing.

    Args:
        path: the file.
        fold: normalises column names.

    Raises:
        OptionError: if the file cannot be read, is not UTF-8 text, or is a table with duplicate columns.
    """
    start = first_character(path)
    if start == "[":
        yield from _array(path, fold)
        return
    with _open(path, "\n" if start == "{" else "") as file:
        yield from (_lines if start == "{" else _table)(file, fold)


def first_character(path: Path) -> str:
    """Returns the first non-blank character of a file; empty if its beginning is blank.

    Raises:
        OptionError: if the file cannot be read or begins as UTF-16.
    """
    try:
        with _open(path, "\n") as file:
            head = file.read(_CHUNK)
    except OSError as error:
        raise OptionError(f"{path}: expected a file of results in UTF-8, but: {error}") from error
    if head.startswith(("\udcff\udcfe", "\udcfe\udcff")):
        raise OptionError(f"{path}: expected text in UTF-8, got UTF-16; save it as UTF-8")
    return head.lstrip()[:1]


def _open(path: Path, newline: str) -> TextIO:
    """Opens a text file; invalid UTF-8 bytes become surrogates, so only their rows are lost."""
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline=newline)


def is_text(text: str) -> bool:
    """Returns whether a text can be written as UTF-8; text with surrogates cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Bounded:
    """The lines of a file, cut at ``MAX_ROW`` characters.

    Attributes:
        number: of the last line.
        is_cut: whether the last line was longer.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.number = 0
        self.is_cut = False

    def __iter__(self) -> "_Bounded":
        return self

    def __next__(self) -> str:
        line = rest = self._file.readline(MAX_ROW)
        if not line:
            raise StopIteration
        self.number += 1
        self.is_cut = False
        while len(rest) == MAX_ROW and not rest.endswith("\n"):
            rest = self._file.readline(MAX_ROW)
            self.is_cut = self.is_cut or bool(rest)
        return line


def _table(file: TextIO, fold: Callable[[str], str]) -> Iterator[tuple[str, dict[str, Any] | UnreadableRow]]:
    first = file.readline(_CHUNK)
    file.seek(0)
    lines = _Bounded(file)
    reader = csv.reader(lines, delimiter=max(_DELIMITERS, key=first.count))
    header: list[str] = []
    while True:
        begin = lines.number + 1
        try:
            row = _next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield f"line {lines.number}", UnreadableRow(f"expected CSV, but: {error}")
            continue
        where = f"line {lines.number}"
        if not any(cell.strip() for cell in row):
            continue
        if not header:
            header = [fold(cell.strip()) for cell in row]
            if double := _double(header):
                raise OptionError(f"{file.name}, {where}: expected distinct columns, got {double!r:.60} twice")
            continue
        text = ",".join(row)
        if lines.is_cut:
            yield where, _too_long()
        elif not is_text(text):
            yield where, _no_text()
        elif len(row) != len(header):
            spread = f" from line {begin} to here: a quotation mark is open" if begin < lines.number else ""
            yield where, UnreadableRow(f"expected {len(header)} fields as in the header, got {len(row)}{spread}")
        else:
            yield where, {name: cell.strip() for name, cell in zip(header, row, strict=True)}


def _next(reader: Iterator[list[str]]) -> list[str]:
    """Reads a row; restores the field size limit, which ``csv`` shares between all readers of the process."""
    limit = csv.field_size_limit(MAX_ROW)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(limit)


def _lines(file: TextIO, fold: Callable[[str], str]) -> Iterator[tuple[str, dict[str, Any] | UnreadableRow]]:
    lines = _Bounded(file)
    for line in lines:
        if not line.isspace():
            yield f"line {lines.number}", _too_long() if lines.is_cut else _entry(line, fold)


def _entry(text: str, fold: Callable[[str], str]) -> dict[str, Any] | UnreadableRow:
    if not is_text(text):
        return _no_text()
    try:
        return _fields(_DECODER.decode(text), fold)
    except (ValueError, RecursionError) as error:
        return UnreadableRow(f"expected JSON, but: {error}")


def _array(path: Path, fold: Callable[[str], str]) -> Iterator[tuple[str, dict[str, Any] | UnreadableRow]]:
    """Reads an array as a whole.

    Raises:
        OptionError: if it is too large, is not UTF-8 text, or is damaged; JSON lines lose the damaged rows only.
    """
    with path.open("rb") as file:
        data = file.read(MAX_ARRAY + 1)
    if len(data) > MAX_ARRAY:
        raise OptionError(
            f"{path}: expected a JSON array of at most {MAX_ARRAY} bytes, got a larger one; turn it into JSON lines: jq -c '.[]'"
        )
    try:
        entries = _DECODER.decode(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{path}: expected JSON, but: {error}") from error
    for number, entry in enumerate(entries, 1):
        yield f"entry {number}", _fields(entry, fold)


def _fields(entry: Any, fold: Callable[[str], str]) -> dict[str, Any] | UnreadableRow:
    if not isinstance(entry, dict):
        return UnreadableRow(f"expected an object, got {str(entry)!r:.60}")
    return {fold(name.strip()): value for name, value in entry.items()}


def _too_long() -> UnreadableRow:
    return UnreadableRow(f"expected a row of at most {MAX_ROW} characters, got a longer one")


def _no_text() -> UnreadableRow:
    return UnreadableRow("expected text in UTF-8, got other bytes")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the key {_double([name for name, _ in pairs])!r:.60} stands there twice")
    return found


def _double(names: list[str]) -> str:
    """Returns the first repeated name, or an empty string."""
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            return name
        seen.add(name)
    return ""


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=lambda _: None)
