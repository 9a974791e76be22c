"""Tables of results: cells with their uncertainty, written as Markdown, CSV and JSON."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmarena_envs.core.terminal import printable
from rating.schemes import formatting
from rating.stats.estimates import Estimate

PUBLISHED = "published"
MEASURED = "measured"
DECIMALS = 6
"""Decimals of numbers in JSON and CSV."""

Cell = str | int | float | Estimate | None


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        title: content of the cells, with its unit.
        source: ``published`` for figures of a paper, ``measured`` for figures of a run; empty for names and counts that are
            neither.
        decimals: of numbers in Markdown.
    """

    title: str
    source: str = ""
    decimals: int = 2

    @property
    def heading(self) -> str:
        """The title with the source."""
        return f"{self.title} ({self.source})" if self.source else self.title


Cells = dict[Column, Cell]
"""A row: the cell of each column."""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: short, for file names.
        title: content of the table.
        columns: the columns.
        rows: a cell for every column; ``None`` for an empty cell.
        notes: caveats for reading it.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        headings = [column.heading for column in self.columns]
        if len(set(headings)) < len(headings):
            raise ValueError(f"table {self.name!r}: expected different headings, got {headings}")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name!r}: expected {len(self.columns)} cells, got {row!r}")

    @classmethod
    def of(cls, name: str, title: str, rows: Sequence[Mapping[Column, Cell]], notes: Sequence[str] = ()) -> "Table":
        """Returns a table of rows that name their columns, all the same ones; without rows it has no columns."""
        columns = list(rows[0]) if rows else []
        return cls(name, title, columns, [[row[column] for column in columns] for row in rows], notes)


def percent(value: Estimate | None) -> Estimate | None:
    """Returns a rate in per cent."""
    if value is None:
        return None
    low, high = (None if end is None else 100 * end for end in (value.low, value.high))
    return value._replace(value=100 * value.value, low=low, high=high)


def to_markdown(table: Table) -> str:
    """Returns a table as Markdown; an estimate as ``value [low, high] (n)``."""
    if not table.columns:
        return "\n".join([f"**{_escaped(table.title)}**", "", "Nothing to show.", "", *_bullets(table.notes)]).rstrip()
    lines = [[_escaped(column.heading) for column in table.columns]]
    lines += [
        [_escaped(_written(cell, column)) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    widths = [max(3, *(len(line[index]) for line in lines)) for index in range(len(table.columns))]
    written = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join(
        [f"**{_escaped(table.title)}**", "", written[0], rule, *written[1:], "", *_bullets(table.notes)]
    ).rstrip()


def to_csv(table: Table) -> str:
    """Returns a table as CSV; a column of estimates becomes four: value, low, high and n."""
    spread = [any(isinstance(row[index], Estimate) for row in table.rows) for index in range(len(table.columns))]
    header: list[str] = []
    for column, wide in zip(table.columns, spread, strict=True):
        header += [column.heading, *(f"{column.heading} {part}" for part in ("low", "high", "n") if wide)]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    for row in table.rows:
        line: list[str | int | float | None] = []
        for cell, wide in zip(row, spread, strict=True):
            parts = _parts(cell)
            line += parts if wide else parts[:1]
        writer.writerow(line)
    return file.getvalue()


def to_json(table: Table) -> dict[str, Any]:
    """Returns a table as JSON values: each row by the headings of its cells."""
    return {
        "name": table.name,
        "title": table.title,
        "columns": [{"title": column.title, "source": column.source} for column in table.columns],
        "rows": [
            {column.heading: _plain(cell) for cell, column in zip(row, table.columns, strict=True)}
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def _written(cell: Cell, column: Column) -> str:
    if isinstance(cell, Estimate):
        return formatting.estimate(cell, decimals=column.decimals)
    if isinstance(cell, float):
        return formatting.number(cell, column.decimals)
    return "" if cell is None else str(cell)


def _escaped(text: str) -> str:
    """Returns a text, possibly a player's, escaped for a single Markdown cell."""
    plain = printable(" ".join(text.split()))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _bullets(notes: Sequence[str]) -> list[str]:
    return [f"- {_escaped(note)}" for note in notes]


def _parts(cell: Cell) -> list[str | int | float | None]:
    if isinstance(cell, Estimate):
        return [_rounded(cell.value), _rounded(cell.low), _rounded(cell.high), cell.n]
    return [_rounded(cell) if isinstance(cell, float) else cell, None, None, None]


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Estimate):
        return dict(zip(("value", "low", "high", "n"), _parts(cell), strict=True))
    return _rounded(cell) if isinstance(cell, float) else cell


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, DECIMALS) + 0.0


def beside(
    published: Mapping[str, Sequence[Cell]], measured: Mapping[str, Sequence[Cell]], same: Mapping[str, str]
) -> list[list[Cell]]:
    """Joins published and measured figures into rows: player, then each figure twice, published and measured.

    Args:
        published: figures by model.
        measured: figures by policy; the same number of figures.
        same: our policy by published model; both share a row.

    Returns:
        The published models in their order, then the other policies in theirs.
    """
    width = len(next(iter((*published.values(), *measured.values())), ()))
    missing: Sequence[Cell] = (None,) * width
    rows = []
    for model, figures in published.items():
        ours = measured.get(same.get(model, ""), missing)
        name = f"{model} = {same[model]}" if same.get(model) in measured else model
        rows.append([name, *(cell for pair in zip(figures, ours, strict=True) for cell in pair)])
    known = {policy for model, policy in same.items() if model in published}
    for policy, figures in measured.items():
        if policy not in known:
            rows.append([policy, *(cell for pair in zip(missing, figures, strict=True) for cell in pair)])
    return rows


def paired_columns(titles: Sequence[str], decimals: int = 2) -> list[Column]:
    """Returns the columns of ``beside``: each title published, then measured."""
    return [
        Column("player"),
        *(Column(title, source, decimals) for title in titles for source in (PUBLISHED, MEASURED)),
    ]
