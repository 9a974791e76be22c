"""Leaderboards and summaries as JSON, plain text and terminal tables."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from llmarena_envs.core.terminal import printable
from rating.schemes import caveats, formatting
from rating.schemes.caveats import claims
from rating.schemes.leaderboard import ALWAYS, Effort, Leaderboard, LeaderboardColumn, LeaderboardRow, StaffRow
from rating.schemes.summary import Average, Summary
from rating.viewer.report.names import shortened

WIDTH = 100
"""Default maximum width of printed lines, in characters."""

MANY = 8
"""With more games than these, a short table has one row a game in place of one table a game."""

DECIMALS = 4
"""Decimals of numbers in JSON."""

ROOM_FOR_NAMES = 12
"""Names are cut to this width before columns are dropped."""

LEAST_ROOM_FOR_NAMES = 8

NOTHING: Mapping[str, str] = MappingProxyType({})

WIDER = "; a wider terminal or the report shows all"
"""Where to find the dropped columns."""

_GAP = 2
"""Spaces between two columns."""


class Sheet(NamedTuple):
    """A formatted table.

    Attributes:
        title: title above the table.
        header: column headings.
        rows: cell texts by row.
        notes: lines below the table.
        importance: importance of each column; without enough room the least important are dropped first.
        texts: number of leading text columns; the other columns are numbers.
        has_names: whether the last text column holds policy names, which can be cut.
        warnings: the notes that doubt the results.
    """

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]
    importance: list[int]
    texts: int = 1
    has_names: bool = False
    warnings: Sequence[str] = ()

    def without_empty_columns(self, kept: int = 1, empty: Collection[str] = ("",)) -> "Sheet":
        """Returns the table without the columns whose cells are all empty.

        Args:
            kept: number of leading columns that stay in any case.
            empty: texts of empty cells.
        """
        used = [
            index
            for index in range(len(self.header))
            if index < kept or any(row[index] not in empty for row in self.rows)
        ]
        return self._replace(
            header=[self.header[index] for index in used],
            rows=[[row[index] for index in used] for row in self.rows],
            importance=[self.importance[index] for index in used],
        )


def to_json(table: Any, decimals: int = DECIMALS) -> str:
    """Returns a leaderboard, a summary or other nested dataclasses as JSON, with a fixed key order and rounded numbers."""
    return json.dumps(_plain(table, decimals), indent=2, ensure_ascii=False, allow_nan=False)


def to_text(board: Leaderboard | Summary) -> str:
    """Returns a leaderboard or summary as plain text with all columns, aligned."""
    shown = sheet(board, wide=True)
    table = [shown.header, *shown.rows]
    widths = [max(cell_len(row[column]) for row in table) for column in range(len(shown.header))]
    lines = []
    for row in table:
        pads = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = [
            cell + pad if column < shown.texts else pad + cell
            for column, (cell, pad) in enumerate(zip(row, pads, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join([shown.title, *lines, *shown.notes])


def _text(text: str) -> Text:
    """Returns a literal text without markup and control sequences."""
    return Text(printable(text))


def render(shown: Sheet, width: int | None = None, elsewhere: str = WIDER) -> RenderableType:
    """Returns a table for ``rich``.

    Args:
        shown: the table.
        width: maximum line width; columns that do not fit are dropped and named in a note. ``None`` for all columns.
        elsewhere: end of that note, which says where to find them.
    """
    shown = _printable(shown) if width is None else _fitted(_printable(shown), width, elsewhere)
    table = _table(shown.header, shown.rows, shown.texts)
    table.title, table.title_justify = Text(shown.title), "left"
    return Group(table, *(Text(note) for note in shown.notes))


def _printable(shown: Sheet) -> Sheet:
    """Returns a sheet without control sequences."""
    return shown._replace(
        title=printable(shown.title),
        header=[*map(printable, shown.header)],
        rows=[[printable(cell).replace("\n", "\\n") for cell in row] for row in shown.rows],
        notes=[*map(printable, shown.notes)],
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for index, title in enumerate(header):
        is_text = index < texts
        table.add_column(_text(title), justify="left" if is_text else "right", no_wrap=is_text)
    for row in rows:
        table.add_row(*(_text(cell) for cell in row))
    return table


def _fitted(shown: Sheet, width: int, elsewhere: str) -> Sheet:
    """Fits a table into a width: drops columns, the least important first, and cuts names.

    The first three columns are never dropped.
    """
    kept, left_out = list(range(len(shown.header))), []
    droppable = sorted(kept[3:], key=lambda index: (shown.importance[index], -index))
    while droppable and _width(shown, kept) > width:
        kept.remove(droppable[0])
        left_out.append(shown.header[droppable.pop(0)])
    notes = [f"no room for: {', '.join(left_out)}{elsewhere}"] if left_out else []
    rows = shown.rows
    if shown.has_names:
        column = shown.texts - 1
        room = max(LEAST_ROOM_FOR_NAMES, width - _width(shown, [index for index in kept if index != column]) - _GAP)
        names = shortened([row[column] for row in rows], room)
        rows = [[*row[:column], name, *row[column + 1 :]] for row, name in zip(rows, names, strict=True)]
    return shown._replace(
        header=[shown.header[index] for index in kept],
        rows=[[row[index] for index in kept] for row in rows],
        notes=notes + shown.notes,
    )


def _width(shown: Sheet, columns: Sequence[int]) -> int:
    """Returns the width of the table with some of its columns, with names cut to their minimum."""
    widths = [max(cell_len(row[index]) for row in [shown.header, *shown.rows]) for index in columns]
    named = shown.texts - 1 if shown.has_names else None
    cut = [
        min(width, ROOM_FOR_NAMES) if index == named else width for index, width in zip(columns, widths, strict=True)
    ]
    return sum(width + _GAP for width in cut)


def _plain(value: Any, decimals: int) -> Any:
    if isinstance(value, LeaderboardRow):
        own = vars(value) | dict(value.values)
        shown = {name: own[name] if name in _ALWAYS_SHOWN or not value.withheld else None for name in own}
        return _plain({name: item for name, item in shown.items() if name != "values"}, decimals)
    if is_dataclass(value):
        names = [item.name for item in fields(value) if item.compare]  # columns are functions
        return {name: _plain(getattr(value, name), decimals) for name in names}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict(), decimals)
    if isinstance(value, Mapping):
        return {key: _plain(item, decimals) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, decimals) for item in value]
    return round(value, decimals) + 0.0 if isinstance(value, float) else value


def sheet(board: Leaderboard | Summary, *, wide: bool = False, costs: Mapping[str, str] = NOTHING) -> Sheet:
    """Returns the table of a leaderboard or summary.

    Args:
        board: leaderboard or summary.
        wide: whether to show all columns and notes, or only the main ones.
        costs: formatted cost of each policy in the environment, by name.
    """
    if isinstance(board, Summary):
        return _summary_sheet(board, wide)
    own = board.columns
    columns = [_RANK, _POLICY, *(column for column in own if not column.wide), _MATCHES]
    columns += [LeaderboardColumn("cost", lambda row: costs.get(row.policy, ""))] if costs else []
    columns += [_MARK] if any(_MARK.cell(row) for row in board.rows) else []
    if wide:
        columns += [*(column for column in own if column.wide), *_effort_columns(board)]
    rows = [
        [caveats.WITHHELD if row.withheld and column in own else column.cell(row) for column in columns]
        for row in board.rows
    ]
    return Sheet(
        board.environment,
        [column.title for column in columns],
        rows,
        _notes(board, wide),
        [column.importance for column in columns],
        texts=2,
        has_names=True,
        warnings=_warnings(board),
    )


def brief_sheet(
    table: Leaderboard | Summary, boards: Sequence[Leaderboard], costs: Mapping[str, str] = NOTHING
) -> Sheet:
    """Returns the main columns of a table with its warnings in place of its notes.

    Args:
        table: leaderboard or summary.
        boards: the leaderboards of a summary.
        costs: as for ``sheet``.
    """
    if isinstance(table, Summary):
        return _scores_by_game(table, boards, costs)
    shown = sheet(table, costs=costs)
    matches = formatting.counted(table.matches, "match", "matches")
    return shown._replace(title=f"{table.environment}: {matches}{_end(table)}", notes=[*shown.warnings])


def games_sheet(boards: Sequence[Leaderboard]) -> Sheet:
    """Returns one row a game, with the first policy of its leaderboard, for a run of many games."""
    rows = []
    for board in boards:
        ranked = [row for row in board.rows if row.rank]
        first = ranked[0] if ranked else None
        cells = (
            [first.policy, formatting.ranks(*first.rank), _score_cell(first)] if first and first.rank else ["", "", ""]
        )
        warnings = len(_warnings(board))
        rows.append([board.environment, *cells, str(board.matches), board.stop_reason or "", str(warnings or "")])
    header = ["game", "first", "rank", "score", "matches", "stopped", "warnings"]
    return Sheet("Games", header, rows, [], [ALWAYS] * 5 + [2, 1], texts=2, has_names=True)


def _scores_by_game(summary: Summary, boards: Sequence[Leaderboard], costs: Mapping[str, str]) -> Sheet:
    """Returns the scores of a summary with the score in each game, or the metric of a game without scores."""
    games = [board.environment for board in boards] if len(boards) <= MANY else []
    cells = {(board.environment, row.policy): _score_cell(row) for board in boards for row in board.rows}
    marks = [caveats.fallback_mark(row.fallback_share) for row in summary.rows]
    rows = [
        [
            formatting.ranks(*row.rank) if row.rank else "",
            row.policy,
            formatting.score(row.score, 1),
            *([mark] if any(marks) else []),
            *(cells.get((game, row.policy), "") for game in games),
            *([costs.get(row.policy, "")] if costs else []),
        ]
        for row, mark in zip(summary.rows, marks, strict=True)
    ]
    notes = _outside_notes(summary)
    header = ["rank", "policy", "score, %", *(["mark"] if any(marks) else [])]
    importance = [ALWAYS] * len(header) + [2] * len(games)
    header += games
    if costs:
        header, importance = [*header, "cost"], [*importance, ALWAYS]
    return Sheet("All games", header, rows, notes, importance, texts=2, has_names=True)


def _score_cell(row: LeaderboardRow) -> str:
    if row.withheld:
        return caveats.WITHHELD
    return formatting.number(row.metric, 2) if row.score is None else formatting.number(100 * row.score.value, 0)


def _effort_columns(board: Leaderboard) -> list[LeaderboardColumn]:
    return [column for column in _EFFORT if any(column.cell(row) not in ("", "0") for row in board.rows)]


def _notes(board: Leaderboard, wide: bool) -> list[str]:
    ranked = [(row.policy, row.rank) for row in board.rows if row.rank and not row.withheld]
    notes = [formatting.counted(board.matches, "match", "matches") + _end(board)]
    notes += _values(board)
    notes += [said] if (said := claims(ranked)) else []
    notes += _warnings(board)
    notes += [f"for comparison, {name}: {formatting.number(value, 3)}" for name, value in board.references.items()]
    notes += [board.rank_note] if len(ranked) > 1 else []
    notes += board.notes
    if any(_falls_back_much(row) for row in board.rows):
        notes.append(FALLBACK_NOTE)
    if any(_forfeits_much(row) for row in board.rows):
        notes.append("ff: share of its matches that a policy forfeited, which count as lost")
    notes += board.wide_notes if wide else ()
    return notes + [_staff_note(row) for row in board.staff]


def _warnings(board: Leaderboard) -> list[str]:
    """Returns the notes that doubt the results: excluded matches, withheld and absent policies, caveats."""
    warnings = []
    if board.void_matches or board.bug_matches:
        warnings.append(
            f"left out: {board.void_matches} void matches, {board.bug_matches} with a bug of the environment"
        )
    if board.undecided_matches:
        warnings.append(f"left out: {board.undecided_matches} matches without a result")
    return [*warnings, *caveats.notes(board), *board.caveats]


def _end(board: Leaderboard) -> str:
    """Returns why play stopped."""
    if board.paused:
        return f"; paused: {board.paused}; `llmarena resume DIR --keep-going` plays on"
    return f"; stopped: {board.stop_reason}" if board.stop_reason else ""


def _values(board: Leaderboard) -> list[str]:
    """Returns the values of the stop rule when it fired, and the current ones if they differ."""
    lines = []
    if board.stopped_with:
        lines.append(f"stopped with: {board.stopped_with}")
    if board.reached not in ("", board.stopped_with):
        in_flight = ", including in-flight matches" if board.stopped_with else ""
        lines.append(f"now{in_flight}: {board.reached}")
    return lines


def _summary_sheet(summary: Summary, wide: bool) -> Sheet:
    is_marked = any(caveats.is_marked(row.fallback_share) for row in summary.rows)
    marks = ["mark"] if is_marked else []
    header = ["rank", "policy", "score, %", "best = 100", *marks, *summary.environments, *summary.abilities]
    rows = [
        [
            formatting.ranks(*row.rank) if row.rank else "",
            row.policy,
            formatting.score(row.score, 1),
            _average(row.average),
            *([caveats.fallback_mark(row.fallback_share)] if is_marked else []),
            *(formatting.number(row.scores[environment], 1) for environment in summary.environments),
            *(_average(row.abilities[ability]) for ability in summary.abilities),
        ]
        for row in summary.rows
    ]
    averages = (_average(summary.averages[environment]) for environment in summary.environments)
    rows.append(["", "average", "", "", *("" for _ in marks), *averages, *("" for _ in summary.abilities)])
    notes = [said] if (said := claims([(row.policy, row.rank) for row in summary.rows if row.rank])) else []
    notes += _pool_notes(summary)
    notes.append(
        "best = 100: mean over environments of the value in per cent of the best policy, as in the paper; (n) environments;"
        " skipped environments raise it"
    )
    notes += [f"{environment} is left out of best = 100: {reason}." for environment, reason in summary.left_out.items()]
    notes += [f"{FALLBACK_NOTE}; in the environment where it is largest"] if is_marked else []
    importance = [ALWAYS] * (4 + len(marks)) + [2] * len(summary.environments) + [1] * len(summary.abilities)
    kept = range(len(header) if wide else len(header) - len(summary.abilities))
    return Sheet(
        "All environments",
        [header[index] for index in kept],
        [[row[index] for index in kept] for row in rows],
        notes,
        [importance[index] for index in kept],
        texts=2,
        has_names=True,
    )


def _pool_notes(summary: Summary) -> list[str]:
    """Returns notes on the policies and environments of the score."""
    environments, policies = summary.pool.environments, summary.pool.policies
    if not environments:
        notes = ["score: none, since no two policies have ratings in one environment"]
    else:
        notes = [
            f"score: expected score against each of the others of {len(policies)} policies, a tie as a half, by the ratings of"
            f" {len(environments)} environment{'s' if len(environments) > 1 else ''} ({', '.join(environments)}), with its 95 %"
            " interval for these environments"
        ]
    return notes + _outside_notes(summary)


def _outside_notes(summary: Summary) -> list[str]:
    """Returns a note for each reason that excludes policies or environments from the score."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in summary.outside.items():
        by_reason.setdefault(reason, []).append(name)
    return [f"without a part in score: {', '.join(names)} ({reason})" for reason, names in by_reason.items()]


def _staff_note(row: StaffRow) -> str:
    effort = row.effort
    parts = [f"{effort.matches} matches", f"{effort.turns} turns"]
    parts += [f"bad replies: {formatting.kinds(effort.failures)}"] if effort.failures else []
    parts += [f"{effort.reasks} re-asks"] if effort.reasks else []
    parts += [f"{effort.fallbacks} fallbacks"] if effort.fallbacks else []
    if effort.prompt_tokens or effort.completion_tokens or effort.unknown_usage:
        parts.append(f"tokens: {_tokens_in(effort)} in, {_tokens_out(effort)} out")
    return f"{row.role}, not rated: {row.policy}: {', '.join(parts)}"


def _tokens_in(effort: Effort) -> str:
    return formatting.at_least(effort.prompt_tokens, effort.unknown_usage)


def _tokens_out(effort: Effort) -> str:
    return formatting.at_least(effort.completion_tokens, effort.unknown_usage)


def _average(average: Average | None) -> str:
    return f"{formatting.number(average.value, 1)} ({average.n})" if average else ""


_ALWAYS_SHOWN = ("policy", "effort", "fallback_share", "withheld", "absent")
"""Row fields shown even if a row is withheld."""

FALLBACK_NOTE = (
    "fallback: share of its turns that the fallback of the game played (a random legal move, unless the game declares another),"
    " after unusable replies"
)

MANY_FORFEITS = 0.1
"""Minimum share of forfeited matches for a mark."""


def _forfeited(row: LeaderboardRow) -> float:
    return sum(row.effort.forfeits.values()) / max(1, row.effort.matches)


def _forfeits_much(row: LeaderboardRow) -> bool:
    return _forfeited(row) >= MANY_FORFEITS


def _falls_back_much(row: LeaderboardRow) -> bool:
    """Returns whether a row is marked for its fallbacks. For withheld rows a note has the share."""
    return caveats.is_marked(row.fallback_share) and not row.withheld


def _mark(row: LeaderboardRow) -> str:
    """Returns the marks of a row: withheld, many fallbacks, absent, many forfeits."""
    marks = [caveats.WITHHELD] if row.withheld else []
    marks += [] if row.withheld else [caveats.fallback_mark(row.fallback_share)]
    marks += [row.absent.partition(":")[0]] if row.absent else []
    marks += [f"ff {_forfeited(row):.0%}"] if _forfeits_much(row) else []
    return ", ".join(filter(None, marks))


_RANK = LeaderboardColumn("rank", lambda row: formatting.ranks(*row.rank) if row.rank and not row.withheld else "")
_POLICY = LeaderboardColumn("policy", lambda row: row.policy)
_MATCHES = LeaderboardColumn("matches", lambda row: str(row.effort.matches))
_MARK = LeaderboardColumn("mark", _mark)
_EFFORT = (
    LeaderboardColumn("forfeits", lambda row: formatting.kinds(row.effort.forfeits)),
    LeaderboardColumn("bad replies", lambda row: formatting.kinds(row.effort.failures)),
    LeaderboardColumn("re-asks", lambda row: str(row.effort.reasks), 5),
    LeaderboardColumn("fallbacks", lambda row: str(row.effort.fallbacks), 4),
    LeaderboardColumn("tokens in", lambda row: _tokens_in(row.effort)),
    LeaderboardColumn("tokens out", lambda row: _tokens_out(row.effort)),
    LeaderboardColumn("void", lambda row: str(row.effort.void_matches + row.effort.bug_matches)),
    LeaderboardColumn("undecided", lambda row: str(row.effort.undecided_matches)),
)
