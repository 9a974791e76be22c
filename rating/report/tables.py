"""Leaderboards and summaries as JSON, as plain text and as tables for the terminal."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rating.schemes.leaderboard_rows import (
    CooperativeRow,
    Leaderboard,
    RoleLeaderboard,
    RoleRow,
    Row,
    SkillLeaderboard,
    SkillRow,
)
from rating.schemes.summary import Average, Summary
from rating.statistics.estimates import Estimate, Tally

DECIMALS = 4
"""Decimals of numbers in JSON."""

_LEAST_IMPORTANT = ("shuffled", "no ties", "reward (n)", "fallbacks", "re-asks", "second", "first", "mu")
"""Columns that are the first to be left out where there is no room, in this order."""
_FRAME = 3
"""Characters of a column besides its content: a line and two blanks."""


class _Column(NamedTuple):
    title: str
    cell: Callable[[Any], str]


class Sheet(NamedTuple):
    """What is shown: a title, a table of strings whose first column is text, and lines below it."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]


def to_json(board: Leaderboard | Summary) -> str:
    """Returns a leaderboard or summary as JSON: keys in a fixed order, numbers with ``DECIMALS`` decimals."""
    return json.dumps(_plain(board), indent=2, ensure_ascii=False, allow_nan=False)


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


def render(board: Leaderboard | Summary, width: int | None = None) -> RenderableType:
    """Returns a leaderboard or summary as a table for ``rich``.

    Args:
        board: what is shown.
        width: characters of a line; whole columns that have no room are left out, and a note names them. ``None`` for
            all columns.
    """
    shown = sheet(board) if width is None else _fitted(sheet(board), width)
    table = Table(title=Text(shown.title), title_justify="left")
    for index, title in enumerate(shown.header):
        table.add_column(Text(title), justify="right" if index else "left", no_wrap=not index)
    for row in shown.rows:
        table.add_row(*(Text(cell) for cell in row))
    return Group(table, *(Text(note) for note in shown.notes))


def _fitted(shown: Sheet, width: int) -> Sheet:
    """Leaves out columns, the least important first, until the table fits; the first three always stay."""
    kept = list(range(len(shown.header)))
    widths = [max(cell_len(row[index]) for row in [shown.header, *shown.rows]) for index in kept]
    droppable = sorted(kept[3:], key=lambda index: (_importance(shown.header[index]), -index))
    left_out = []
    while droppable and sum(widths[index] + _FRAME for index in kept) >= width:
        kept.remove(droppable[0])
        left_out.append(shown.header[droppable.pop(0)])
    notes = [f"no room for: {', '.join(left_out)}; a wider terminal or the report shows all"] if left_out else []
    rows = [[row[index] for index in kept] for row in shown.rows]
    return Sheet(shown.title, [shown.header[index] for index in kept], rows, notes + shown.notes)


def _importance(title: str) -> int:
    return _LEAST_IMPORTANT.index(title) if title in _LEAST_IMPORTANT else len(_LEAST_IMPORTANT)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return round(value, DECIMALS) + 0.0 if isinstance(value, float) else value


def sheet(board: Leaderboard | Summary) -> Sheet:
    """Returns what is shown of a leaderboard or summary."""
    if isinstance(board, Summary):
        return _summary_sheet(board)
    effort = [column for column in _EFFORT if any(column.cell(row) not in ("", "0") for row in board.rows)]
    columns = [
        _Column("policy", lambda row: row.policy),
        _Column("matches", lambda row: str(row.effort.matches)),
        *_COLUMNS[board.kind],
        *effort,
    ]
    return Sheet(
        board.environment,
        [column.title for column in columns],
        [[column.cell(row) for column in columns] for row in board.rows],
        _notes(board),
    )


def _summary_sheet(summary: Summary) -> Sheet:
    header = ["policy", "average", *summary.environments, *summary.abilities]
    rows = [
        [
            row.policy,
            _average(row.average),
            *(_number(row.scores[environment], 1) for environment in summary.environments),
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
    return Sheet("All environments", header, rows, notes)


def _notes(board: Leaderboard) -> list[str]:
    notes = [f"{board.matches} matches" + (f"; stopped: {board.stop_reason}" if board.stop_reason else "")]
    if board.void_matches or board.bug_matches:
        notes.append(f"left out: {board.void_matches} void matches, {board.bug_matches} with a bug of the environment")
    notes += [f"for comparison, {name}: {_number(value, 3)}" for name, value in board.references.items()]
    if isinstance(board, SkillLeaderboard):
        notes += _skill_notes(board)
    if isinstance(board, RoleLeaderboard) and board.unclassified:
        notes.append(f"{board.unclassified} matches in which it is not known who had the role count in no rate")
    return notes


def _skill_notes(board: SkillLeaderboard) -> list[str]:
    source = {
        "model": "of the model",
        "wider": f"the wider one of the model's and the one clustered by deal ({board.clusters} deals)",
    }[board.interval]
    notes = [
        f"rating: Bradley-Terry in Elo, mean 1000, with its 95 % interval, {source}; no ties: fitted without them",
        f"mu: TrueSkill in match order; shuffled: mean and sd over {board.permutations} random orders of the matches",
        f"first seat won {board.position.wins}, tied {board.position.draws}, lost {board.position.losses}",
    ]
    if board.seat_advantage is not None:
        notes[-1] += (
            f"; its advantage: {_number(board.seat_advantage, 0)} Elo"
            f" [{_number(board.seat_low, 0)}, {_number(board.seat_high, 0)}]"
        )
    if not board.connected:
        notes.append("not every policy has beaten or tied every other through a chain: distances depend on the prior")
    if board.regularised:
        notes.append("the data alone determine no finite ratings: a prior was added")
    return notes


def _number(value: float | None, decimals: int) -> str:
    return "" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def _estimate(estimate: Estimate | None, *, scale: float = 1.0, decimals: int = 2) -> str:
    if estimate is None:
        return ""
    low, high = (None if end is None else _number(scale * end, decimals) for end in (estimate.low, estimate.high))
    interval = f" [{low}, {high}]" if low is not None else ""
    return f"{_number(scale * estimate.value, decimals)}{interval} ({estimate.n})"


def _percent(estimate: Estimate | None) -> str:
    return _estimate(estimate, scale=100.0, decimals=1)


def _average(average: Average | None) -> str:
    return f"{_number(average.value, 1)} ({average.n})" if average else ""


def _tally(tally: Tally) -> str:
    return f"{tally.wins}/{tally.draws}/{tally.losses}"


def _kinds(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def _rating(row: SkillRow) -> str:
    return "" if row.rating is None else f"{row.rating:.0f} [{_number(row.low, 0)}, {_number(row.high, 0)}]"


def _trueskill(row: SkillRow) -> str:
    return "" if row.mu is None else f"{row.mu:.2f} ± {_number(row.sigma, 2)}"


def _shuffled(row: SkillRow) -> str:
    return "" if row.spread is None else f"{row.spread.mu:.2f} ± {row.spread.sd:.2f}"


def _self_play(row: CooperativeRow) -> str:
    return _estimate(row.self_play)


def _cross_play(row: CooperativeRow) -> str:
    return _estimate(row.cross_play)


def _in_role(row: RoleRow) -> str:
    return _percent(row.win_rate)


def _in_other_role(row: RoleRow) -> str:
    return _percent(row.other_win_rate)


def _reward(row: Row) -> str:
    return _estimate(row.reward)


_REWARD = _Column("reward (n)", _reward)
_COLUMNS: dict[str, Sequence[_Column]] = {
    "duels": (
        _Column("rating", _rating),
        _Column("no ties", lambda row: _number(row.rating_without_ties, 0)),
        _Column("mu", _trueskill),
        _Column("shuffled", _shuffled),
        _Column("W/D/L", lambda row: _tally(row.tally)),
        _Column("first", lambda row: _tally(row.first)),
        _Column("second", lambda row: _tally(row.second)),
        _REWARD,
    ),
    "mean_reward": (_REWARD,),
    "cooperation": (_Column("with itself (n)", _self_play), _Column("with others (n)", _cross_play)),
    "roles": (
        _Column("wins in the role, % (n)", _in_role),
        _Column("wins otherwise, % (n)", _in_other_role),
        _REWARD,
    ),
}
_EFFORT = (
    _Column("forfeits", lambda row: _kinds(row.effort.forfeits)),
    _Column("bad replies", lambda row: _kinds(row.effort.failures)),
    _Column("re-asks", lambda row: str(row.effort.reasks)),
    _Column("fallbacks", lambda row: str(row.effort.fallbacks)),
    _Column("tokens in", lambda row: str(row.effort.prompt_tokens)),
    _Column("tokens out", lambda row: str(row.effort.completion_tokens)),
    _Column("void", lambda row: str(row.effort.void_matches + row.effort.bug_matches)),
)
