"""A growing file of JSON lines whose first line says what it is about."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from rating.errors import RunError


class JsonLines:
    """The file; open for writing while entered.

    Args:
        path: the file, which may be missing; another process must not write it.
        about: JSON object of the first line.
        what: name of a line in errors.
        read: takes the object of each further line.

    Raises:
        RunError: on entering, if the file is about something else, or ``read`` refuses a line with a ``ValueError``,
            ``TypeError``, ``KeyError``, ``AttributeError`` or ``OverflowError``.
    """

    def __init__(
        self, path: Path, about: Mapping[str, Any], what: str, read: Callable[[dict[str, Any]], object]
    ) -> None:
        self._path = path
        self._about = dict(about)
        self._what = what
        self._read_row = read

    def __enter__(self) -> Self:
        self._is_begun = self._read()
        self._file = self._path.open("a", encoding="utf-8", newline="\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Writes a line, after the first one in a new file."""
        for each in (row,) if self._is_begun else (self._about, row):
            self._file.write(f"{json.dumps(each, ensure_ascii=False)}\n")
        self._is_begun = True
        self._file.flush()

    def _read(self) -> bool:
        """Reads the file and returns whether it has a first line; removes the unfinished last line of a killed process."""
        data = self._path.read_bytes() if self._path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self._path, len(whole))
        lines = whole.splitlines()
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                if number > 1:
                    self._read_row(row)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                raise RunError(
                    f"{self._path}, line {number}: expected a recorded {self._what}, got {line[:80]!r}; delete the file, or take"
                    " another directory"
                ) from error
            if number == 1 and row != self._about:
                raise RunError(
                    f"{self._path}: expected the file of {self._about}, got the one of {row!r:.300}; take another directory"
                )
        return bool(lines)
