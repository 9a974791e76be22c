"""Rows as JSON lines: one object per line."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x7f\x85\u2028\u2029"}
"""Unicode line ends that some readers split at, and the control characters that JSON does not escape."""


def write_json_lines(rows: Iterable[Mapping[str, Any]], columns: Iterable[str], file: TextIO) -> int:
    """Writes one row per line, columns in order, and returns the number of rows."""
    names, written = list(columns), 0
    for row in rows:
        line = json.dumps({name: row[name] for name in names}, ensure_ascii=False)
        file.write(line.translate(_LINE_ENDS) + "\n")
        written += 1
    return written
