"""Rows of external files: CSV, JSON lines or a JSON array, each with its place for messages.

Files are read a row at a time and rows are bounded, to limit memory use on long or hostile files.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from llmarena_envs.core.options import OptionError

_DELIMITERS = ",;\t"

MAX_ROW = 1 << 24
"""Most characters of a row."""

_CHUNK = 1 << 20
_BLANKS = re.compile(r"[ \t\r\n]*")


class UnreadableRow(NamedTuple):
    """A row that cannot be read.

    Attributes:
        reason: why it cannot be read.
        text: its beginning.
    """

    reason: str
    text: str


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the rows of a file as ``each_row`` does, with file and place.

    Raises:
        OptionError: as ``each_row``, or naming file and place, if a row is unreadable.
    """
    for where, row in each_row(path):
        if isinstance(row, UnreadableRow):
            raise OptionError(f"{path}, {where}: {row.reason}")
        yield f"{path}, {where}", row


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
    with _open(path, "\n" if start == "{" else "") as file:
        yield from {"[": _array, "{": _lines}.get(start, _table)(file, fold)


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
            yield f"line {lines.number}", UnreadableRow(f"expected CSV, but: {error}", "")
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
            yield where, _too_long(text)
        elif not is_text(text):
            yield where, _no_text(text)
        elif len(row) != len(header):
            spread = f" from line {begin} to here: a quotation mark is open" if begin < lines.number else ""
            yield (
                where,
                UnreadableRow(f"expected {len(header)} fields as in the header, got {len(row)}{spread}", text[:200]),
            )
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
            yield f"line {lines.number}", _too_long(line) if lines.is_cut else _entry(line, fold)


def _entry(text: str, fold: Callable[[str], str]) -> dict[str, Any] | UnreadableRow:
    if not is_text(text):
        return _no_text(text)
    try:
        return _fields(_DECODER.decode(text), fold)
    except (ValueError, RecursionError) as error:
        return UnreadableRow(f"expected JSON, but: {error}", text[:200])


def _array(file: TextIO, fold: Callable[[str], str]) -> Iterator[tuple[str, dict[str, Any] | UnreadableRow]]:
    """Reads an array entry by entry; stops at the first structural error."""
    buffer = _Buffer(file)
    buffer.skip("[")
    number = 0
    while not buffer.skip("]"):
        number += 1
        where = f"entry {number}"
        try:
            yield where, _entry(buffer.value(), fold)
        except (ValueError, RecursionError) as error:
            yield where, UnreadableRow(f"expected JSON, but: {error}; nothing behind it was read", buffer.shown())
            return
        if not buffer.skip(",") and buffer.peek() != "]":
            reason = (
                f"expected a comma or the end of the array behind it, got {buffer.peek()!r}; nothing behind it was read"
            )
            yield where, UnreadableRow(reason, "")
            return


class _Buffer:
    """The part of a file that is being read."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._place = 0
        self._is_whole = False

    def peek(self) -> str:
        """Returns the next non-blank character, or an empty string at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._place)
            self._place = blanks.end() if blanks else self._place
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def skip(self, sign: str) -> bool:
        """Skips a character and returns whether it was present."""
        if self.peek() != sign:
            return False
        self._place += 1
        return True

    def value(self) -> str:
        """Skips a value and returns its text.

        Raises:
            ValueError: if there is none, or it is longer than ``MAX_ROW``.
        """
        if not self.peek():
            raise ValueError("the file ends within the array")
        while True:
            try:
                _, end = _SCANNER.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                if len(self._text) - self._place > MAX_ROW:
                    raise ValueError(
                        f"an entry has more than {MAX_ROW} characters, or is damaged: {error.msg}"
                    ) from None
                if not self._more():
                    raise ValueError(error.msg) from None
                continue
            if end == len(self._text) and self._more():  # the number could continue
                continue
            text, self._place = self._text[self._place : end], end
            return text

    def shown(self) -> str:
        """Returns the beginning of the unread text."""
        return self._text[self._place : self._place + 200]

    def _more(self) -> bool:
        """Reads at least as much as the unread text, so rereading at most doubles the work."""
        self._text, self._place = self._text[self._place :], 0
        added = "" if self._is_whole else self._file.read(max(_CHUNK, len(self._text)))
        self._is_whole = not added
        self._text += added
        return bool(added)


def _fields(entry: Any, fold: Callable[[str], str]) -> dict[str, Any] | UnreadableRow:
    if not isinstance(entry, dict):
        return UnreadableRow(f"expected an object, got {str(entry)!r:.60}", str(entry)[:200])
    return {fold(name.strip()): value for name, value in entry.items()}


def _too_long(text: str) -> UnreadableRow:
    return UnreadableRow(f"expected a row of at most {MAX_ROW} characters, got a longer one", text[:200])


def _no_text(text: str) -> UnreadableRow:
    return UnreadableRow("expected text in UTF-8, got other bytes", text[:200])


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


def _missing(_: str) -> None:
    return None


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_missing)


_SCANNER = json.JSONDecoder(parse_constant=_missing)
"""Finds the end of a value; allows duplicate keys."""
