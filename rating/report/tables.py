"""Leaderboards and summaries as JSON, as plain text and as tables for the terminal."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from llmarena_envs.core.terminal import printable
from rating.schemes import cells, reservations
from rating.schemes.figures import Grid
from rating.schemes.leaderboard import ALWAYS, Column, Effort, Leaderboard, Row, StaffRow
from rating.schemes.summary import Average, Summary

DECIMALS = 4
"""Decimals of numbers in JSON."""

_FRAME = 3
"""Characters of a column besides its content: a line and two blanks."""


class Sheet(NamedTuple):
    """What is shown: a title, a table of strings whose first column is text, and lines below it.

    ``importance`` says for each column which ones are left out first where there is no room.
    """

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]
    importance: list[int]


def to_json(table: Any, decimals: int = DECIMALS) -> str:
    """Returns a leaderboard, a summary or what else dataclasses hold as JSON: keys in a fixed order, numbers rounded."""
    return json.dumps(_plain(table, decimals), indent=2, ensure_ascii=False, allow_nan=False)


def to_text(board: Leaderboard | Summary) -> str:
    """Returns a leaderboard or summary as lines of plain text with aligned columns."""
    shown = sheet(board)
    table = [shown.header, *shown.rows]
    widths = [max(cell_len(row[column]) for row in table) for column in range(len(shown.header))]
    lines = []
    for row in table:
        pads = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [row[0] + pads[0], *(pad + cell for cell, pad in zip(row[1:], pads[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([shown.title, *lines, *shown.notes])


def _text(text: str) -> Text:
    """Returns a text that is shown as it is, without styles and without anything that steers a terminal."""
    return Text(printable(text))


def render(shown: Sheet, width: int | None = None) -> RenderableType:
    """Returns a table for ``rich``.

    Args:
        shown: what is shown.
        width: characters of a line; whole columns that have no room are left out, and a note names them. ``None`` for
            all columns.
    """
    shown = shown if width is None else _fitted(shown, width)
    table = _table(shown.header, shown.rows)
    table.title, table.title_justify = _text(shown.title), "left"
    return Group(table, *(_text(note) for note in shown.notes))


def render_grid(grid: Grid) -> RenderableType:
    """Returns a table of texts for the terminal, below its title."""
    return Group(_text(grid.title), _table(grid.header, grid.rows))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table()
    for index, title in enumerate(header):
        table.add_column(_text(title), justify="right" if index else "left", no_wrap=not index)
    for row in rows:
        table.add_row(*(_text(cell) for cell in row))
    return table


def _fitted(shown: Sheet, width: int) -> Sheet:
    """Leaves out columns, the least important first, until the table fits; the first three always stay."""
    kept = list(range(len(shown.header)))
    widths = [max(cell_len(row[index]) for row in [shown.header, *shown.rows]) for index in kept]
    droppable = sorted(kept[3:], key=lambda index: (shown.importance[index], -index))
    left_out = []
    while droppable and sum(widths[index] + _FRAME for index in kept) >= width:
        kept.remove(droppable[0])
        left_out.append(shown.header[droppable.pop(0)])
    notes = [f"no room for: {', '.join(left_out)}; a wider terminal or the report shows all"] if left_out else []
    rows = [[row[index] for index in kept] for row in shown.rows]
    return shown._replace(header=[shown.header[index] for index in kept], rows=rows, notes=notes + shown.notes)


def _plain(value: Any, decimals: int) -> Any:
    if isinstance(value, Row) and value.withheld:
        own = _plain({item.name: getattr(value, item.name) for item in fields(value)}, decimals)
        return {name: item if name in _ALWAYS_SHOWN else None for name, item in own.items()}
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name), decimals) for item in fields(value)}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict(), decimals)
    if isinstance(value, Mapping):
        return {key: _plain(item, decimals) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, decimals) for item in value]
    return round(value, decimals) + 0.0 if isinstance(value, float) else value


def sheet(board: Leaderboard | Summary) -> Sheet:
    """Returns what is shown of a leaderboard or summary."""
    if isinstance(board, Summary):
        return _summary_sheet(board)
    effort = [column for column in _EFFORT if any(column.cell(row) not in ("", "0") for row in board.rows)]
    particular = board.columns()
    columns = [*_FIRST, *particular, *effort]
    return Sheet(
        board.environment,
        [column.title for column in columns],
        [
            [reservations.WITHHELD if row.withheld and column in particular else column.cell(row) for column in columns]
            for row in board.rows
        ],
        _notes(board),
        [column.importance for column in columns],
    )


def _summary_sheet(summary: Summary) -> Sheet:
    header = ["policy", "average", *summary.environments, *summary.abilities]
    rows = [
        [
            row.policy,
            _average(row.average),
            *(cells.number(row.scores[environment], 1) for environment in summary.environments),
            *(_average(row.abilities[ability]) for ability in summary.abilities),
        ]
        for row in summary.rows
    ]
    rows.append(
        [
            "average",
            "",
            *(_average(summary.averages[environment]) for environment in summary.environments),
            *("" for _ in summary.abilities),
        ]
    )
    notes = ["Best policy of an environment = 100; (n) is the number of cells an average is over."]
    notes += [f"{environment} is left out: {reason}." for environment, reason in summary.left_out.items()]
    return Sheet("All environments", header, rows, notes, [ALWAYS] * len(header))


def _notes(board: Leaderboard) -> list[str]:
    notes = [f"{board.matches} matches" + (f"; stopped: {board.stop_reason}" if board.stop_reason else "")]
    if board.reached:
        notes.append(f"reached in the end: {board.reached}")
    if board.void_matches or board.bug_matches:
        notes.append(f"left out: {board.void_matches} void matches, {board.bug_matches} with a bug of the environment")
    if board.undecided_matches:
        notes.append(f"left out: {board.undecided_matches} matches without a result")
    notes += [f"for comparison, {name}: {cells.number(value, 3)}" for name, value in board.references.items()]
    notes += reservations.notes(board) + board.notes()
    notes += [_staff_note(row) for row in board.staff]
    return notes


def _staff_note(row: StaffRow) -> str:
    effort = row.effort
    parts = [f"{effort.matches} matches", f"{effort.turns} turns"]
    parts += [f"bad replies: {cells.kinds(effort.failures)}"] if effort.failures else []
    parts += [f"{effort.reasks} re-asks"] if effort.reasks else []
    parts += [f"{effort.fallbacks} fallbacks"] if effort.fallbacks else []
    if effort.prompt_tokens or effort.completion_tokens or effort.unknown_usage:
        parts.append(f"tokens: {_tokens_in(effort)} in, {_tokens_out(effort)} out")
    return f"{row.role}, not rated: {row.policy}: {', '.join(parts)}"


def _tokens_in(effort: Effort) -> str:
    return cells.at_least(effort.prompt_tokens, effort.unknown_usage)


def _tokens_out(effort: Effort) -> str:
    return cells.at_least(effort.completion_tokens, effort.unknown_usage)


def _average(average: Average | None) -> str:
    return f"{cells.number(average.value, 1)} ({average.n})" if average else ""


_ALWAYS_SHOWN = ("policy", "effort", "withheld", "absent")
"""Fields of a row that are not withheld."""

_FIRST = (
    Column("policy", lambda row: f"{row.policy} ({row.absent.partition(':')[0]})" if row.absent else row.policy),
    Column("matches", lambda row: str(row.effort.matches)),
)
_EFFORT = (
    Column("forfeits", lambda row: cells.kinds(row.effort.forfeits)),
    Column("bad replies", lambda row: cells.kinds(row.effort.failures)),
    Column("re-asks", lambda row: str(row.effort.reasks), 5),
    Column("fallbacks", lambda row: str(row.effort.fallbacks), 4),
    Column("tokens in", lambda row: _tokens_in(row.effort)),
    Column("tokens out", lambda row: _tokens_out(row.effort)),
    Column("void", lambda row: str(row.effort.void_matches + row.effort.bug_matches)),
    Column("undecided", lambda row: str(row.effort.undecided_matches)),
)
