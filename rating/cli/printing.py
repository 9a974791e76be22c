"""Leaderboards, costs and other tables on the terminal."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console

from rating.play.run import Run
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.viewer.report.costs import Costs, cost_sheet, policy_cells
from rating.viewer.report.tables import WIDER, WIDTH, Sheet, render, sheet
from rating.viewer.source import RunSource, tables_of

if TYPE_CHECKING:
    from rating.store.store import Store


_ENDLESS = 100_000
"""Line width for a pipe or a file: lines are not wrapped."""


def print_leaderboards(run: Run, store: "Store", *, wide: bool = False) -> None:
    """Prints the leaderboards and costs of a run; ``wide`` as for ``print_tables``."""
    print_results(*tables_of(RunSource(run, store, "")), wide)


def print_results(tables: list[Leaderboard | Summary], spent: Costs | None, wide: bool) -> None:
    """Prints leaderboards and costs; arguments as for ``print_tables``."""
    if not tables:
        print("no match of this run has ended yet", file=sys.stderr)
    print_tables(tables, spent, wide=wide)
    if not wide and tables:
        _console(WIDTH).print("--wide shows the other columns, and long names in full")
    if spent is not None:
        print_sheets([cost_sheet(spent)], widest=None if wide else WIDTH)


def print_tables(tables: Iterable[Leaderboard | Summary], spent: Costs | None = None, *, wide: bool = False) -> None:
    """Prints leaderboards as tables.

    Args:
        tables: leaderboards and summaries.
        spent: costs of the policies.
        wide: whether to show all columns, as ``print_sheets`` does, or only the main ones, within ``WIDTH``.
    """
    shown = [
        sheet(
            table,
            wide=wide,
            costs=policy_cells(spent, table.environment) if isinstance(table, Leaderboard) else {},
        )
        for table in tables
    ]
    print_sheets(shown, widest=None if wide else WIDTH)


def print_sheets(sheets: Iterable[Sheet], *, widest: int | None = None) -> None:
    """Prints tables.

    Args:
        sheets: the tables.
        widest: maximum line width. By default a terminal shows the columns that fit, a pipe all of them.
    """
    console = _console(widest)
    for shown in sheets:
        width = console.width if console.width < _ENDLESS else None
        console.print(render(shown, width, "; the report shows all" if width == widest else WIDER))


def _console(widest: int | None = None) -> Console:
    """Returns a console as wide as the terminal, or unlimited in a pipe, but at most ``widest``."""
    width = Console().width if sys.stdout.isatty() else _ENDLESS
    return Console(width=min(width, widest or _ENDLESS))
