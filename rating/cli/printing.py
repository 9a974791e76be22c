"""Leaderboards, costs and other tables on the terminal."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from llmarena_envs.core.terminal import printable
from rating.play.run import Run
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.viewer.answer import answers, size
from rating.viewer.report.costs import Costs, cost_sheet, policy_cells
from rating.viewer.report.tables import MANY, WIDER, WIDTH, Sheet, brief_sheet, games_sheet, render, sheet
from rating.viewer.source import RunSource, tables_of

if TYPE_CHECKING:
    from rating.store.store import Store


Detail = Literal["brief", "explained", "wide"]
"""Main columns and warnings; these with the definitions; all columns with the definitions and the costs of each game."""

_ENDLESS = 100_000
"""Line width for a pipe or a file: lines are not wrapped."""


def print_leaderboards(run: Run, store: "Store", detail: Detail) -> None:
    """Prints the answer, the leaderboards and the costs of a run."""
    print_results(*tables_of(RunSource(run, store, "")), detail)


def print_results(tables: Sequence[Leaderboard | Summary], spent: Costs | None, detail: Detail) -> None:
    """Prints the answer, leaderboards and costs."""
    if not tables:
        print("no match of this run has ended yet", file=sys.stderr)
        return
    widest = None if detail == "wide" else WIDTH
    console = _console(widest)
    for line in (size(tables, spent), *answers(tables)):
        console.print(printable(line), markup=False, highlight=False)
    print_sheets(_sheets(tables, spent, detail), widest=widest)
    if spent is not None and detail != "brief":
        print_sheets([cost_sheet(spent)], widest=widest)


def _sheets(tables: Sequence[Leaderboard | Summary], spent: Costs | None, detail: Detail) -> Iterable[Sheet]:
    boards = [table for table in tables if isinstance(table, Leaderboard)]
    if detail == "brief" and len(boards) > MANY:
        yield games_sheet(boards)
        tables = [table for table in tables if isinstance(table, Summary)]
    for table in tables:
        costs = policy_cells(spent, table.environment) if isinstance(table, Leaderboard) else {}
        if detail == "brief":
            shown = brief_sheet(table, boards, costs)
            yield shown._replace(notes=[f"! {note}" for note in shown.notes])
        else:
            yield sheet(table, wide=detail == "wide", costs=costs)


def print_sheets(sheets: Iterable[Sheet], *, widest: int | None = None) -> None:
    """Prints tables, each after an empty line.

    Args:
        sheets: the tables.
        widest: maximum line width. By default a terminal shows the columns that fit, a pipe all of them.
    """
    console = _console(widest)
    for shown in sheets:
        width = console.width if console.width < _ENDLESS else None
        console.print()
        console.print(render(shown, width, "; the report shows all" if width == widest else WIDER))


def _console(widest: int | None = None) -> Console:
    """Returns a console as wide as the terminal, or unlimited in a pipe, but at most ``widest``."""
    width = Console().width if sys.stdout.isatty() else _ENDLESS
    return Console(width=min(width, widest or _ENDLESS))
