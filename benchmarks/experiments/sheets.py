"""Annotation sheets: writes items with an empty column for labels, and reads the filled sheet.

A sheet is a CSV file for spreadsheets. Players' texts are escaped: a spreadsheet does not read them as formulas.
"""

import csv
import hashlib
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from llmarena_envs.core.options import OptionError, nearest

ITEM = "item"
YES_NO = {
    **dict.fromkeys(("yes", "y", "1", "true", "是", "对"), True),
    **dict.fromkeys(("no", "n", "0", "false", "否", "错"), False),
}
"""Labels of yes-or-no questions, in lower case."""

Label = TypeVar("Label")

_BYTE_ORDER_MARK = "\ufeff"  # without it spreadsheets misread UTF-8
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_DELIMITERS = ",;\t"


def write_sheet(items: Mapping[str, Sequence[str]], columns: Sequence[str], question: str) -> str:
    """Returns a sheet as CSV.

    Args:
        items: cells of each item, by its id, in the order of the sheet.
        columns: titles of the cells.
        question: the column to fill in.
    """
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([ITEM, *columns, question])
    for item, shown in items.items():
        writer.writerow([item, *map(_cell, shown), ""])
    return _BYTE_ORDER_MARK + file.getvalue()


def read_sheet(path: Path, question: str, labels: Mapping[str, Label], items: Collection[str]) -> dict[str, Label]:
    """Reads a filled sheet.

    Args:
        path: the file.
        question: the filled column.
        labels: value of each label, by the label in lower case.
        items: ids of the items, each required exactly once.

    Returns:
        The label value by item.

    Raises:
        OptionError: naming file and line, if a label is missing, unknown or double, an item is missing or unknown, or the file is
            not a sheet.
    """
    rows = _rows(path)
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if ITEM not in header or question not in header:
        raise OptionError(
            f"{path}, line 1: expected a header with the columns {ITEM} and {question}, got {header!r:.200}"
        )
    item_column, label_column = header.index(ITEM), header.index(question)
    found: dict[str, Label] = {}
    lines: dict[str, int] = {}
    for number, row in rows[1:]:
        cells = [cell.strip() for cell in row] + [""] * len(header)
        item, label = cells[item_column], cells[label_column]
        where = f"{path}, line {number}"
        if item not in items:
            raise OptionError(
                f"{where}: expected an item of this run, got {item!r:.60}; is it the sheet of another run, or of other options?"
            )
        if item in lines:
            raise OptionError(f"{where}: item {item} stands in line {lines[item]} already; keep one of the two")
        if not label:
            raise OptionError(
                f"{where}: item {item} has no label in the column {question}; expected one of {', '.join(labels)}"
            )
        if label.lower() not in labels:
            raise OptionError(
                f"{where}: expected one of {', '.join(labels)} for item {item}, got {label!r:.60}{nearest(label.lower(), labels)}"
            )
        lines[item] = number
        found[item] = labels[label.lower()]
    missing = [item for item in items if item not in found]
    if missing:
        raise OptionError(
            f"{path}, line {rows[-1][0]}: expected all {len(items)} items, but {len(missing)} are missing after the last line:"
            f" {', '.join(missing[:5])}{', ...' if len(missing) > 5 else ''}"
        )
    return found


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Returns the non-empty rows of a file with their line numbers."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: expected a sheet as CSV in UTF-8, but: {error}") from error
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=first.count))
    try:
        return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise OptionError(f"{path}, line {reader.line_num}: expected a sheet as CSV, but: {error}") from error


def _cell(text: str) -> str:
    """Returns a text that no spreadsheet reads as a formula."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else text


def opaque_id(text: str) -> str:
    """Returns a hash of a text as an id that does not reveal it."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def items_mark(items: Iterable[str]) -> str:
    """Returns a mark for file names that depends on the set of items: sheets of other items are not overwritten."""
    return opaque_id(" ".join(sorted(items)))
