"""``llmarena rate``, ``report``, ``replay`` and ``export``: commands that only read a run."""

import argparse
import errno
import io
import json
import sys
from collections.abc import Collection, Iterable
from contextlib import closing
from itertools import chain
from pathlib import Path

from rich.console import Console

from llmarena_envs.core.options import OptionError
from rating.commands.matches import headline, print_match
from rating.commands.training_data import check_no_training, export_training_data
from rating.commands.verification import no_such_match, verify_run
from rating.errors import RunError
from rating.imports.export import write_battles, write_matrix, write_verdicts
from rating.imports.source import RunSource, Source, open_source
from rating.records.calls import dump_call
from rating.records.export import record_table, write_csv, write_jsonl
from rating.records.record import Record
from rating.records.store import Store
from rating.replacing import replacing_text
from rating.report.costs import DECIMALS as COST_DECIMALS
from rating.report.costs import Costs, cost_sheet, policy_cells
from rating.report.style import style_sheet
from rating.report.tables import WIDER, WIDTH, Sheet, render, render_grid, sheet, to_json
from rating.running import run_directory
from rating.running.run_file import RunConfig
from rating.schemes.figures import Grid
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.training_data.exporting import FORMATS

REPORT = "report.html"
"""File name of the report in a run directory."""

_ENDLESS = 100_000
"""Line width for a pipe or a file: lines are not wrapped."""


def rate(args: argparse.Namespace) -> None:
    """Prints the leaderboards of a run or an import."""
    with open_source(args.dir) as source:
        tables, spent = _tables(source)
        controls = source.style_controls(args.style) if args.style else {}
    if args.json:
        parts = [to_json(table) for table in tables]
        parts += [to_json({"environment": name, "style_control": control}) for name, control in controls.items()]
        parts += [to_json({"costs": spent}, COST_DECIMALS)] if spent else []
        print("[" + ",\n".join(parts) + "]")
    else:
        _print_results(tables, spent, args.wide)
        shown = [style_sheet(control, name) for name, control in controls.items()]
        print_sheets(shown, widest=None if args.wide else WIDTH)


def report(args: argparse.Namespace) -> None:
    """Writes the report of a run or an import and prints its path."""
    if args.dir.is_file() and not args.output:
        raise OptionError(f"{args.dir}: expected a directory to write the report into, got a log; say --output FILE")
    path = write_report(args.dir, args.output or args.dir / REPORT)
    plots = plots_directory(args.dir, path)
    if plots is not None and not any(plots.glob("*.svg")):  # no match with a counted result
        plots = None
    if args.json:
        print(json.dumps({"report": str(path), "plots": plots and str(plots)}))
    else:
        print(f"Report: {path}" + (f"\nPlots: {plots}" if plots else ""))


def replay(args: argparse.Namespace) -> int:
    """Lists matches, shows one, or verifies them. Returns 1 if verification fails."""
    if args.verify:
        return verify_run(args)
    with closing(run_directory.open_store(args.dir)) as store:
        records = store.records(args.match)
        first = next(records, None)
        if args.match and first is None:
            raise no_such_match(args)
        if first is not None:
            records = chain([first], records)
        if args.json:
            _print_array(records)
        else:
            for record in records:
                print(headline(record))
                if args.match:
                    print_match(record, raw=args.raw)
    return 0


def export(args: argparse.Namespace) -> int:
    """Writes the log of a run, results of a run or an import, or training data.

    Returns:
        0, or the exit code of ``export_training_data``.
    """
    if args.format in FORMATS:
        return export_training_data(args)
    check_no_training(args)
    if args.format in _RESULTS:
        with open_source(args.dir) as source:
            _RESULTS[args.format](source, sys.stdout, args.environment)
        return 0
    if args.environment:
        raise OptionError(f"environment: {args.format} holds all of a run; leave it out")
    with closing(run_directory.open_store(args.dir)) as store:
        if args.format == "calls":
            sys.stdout.writelines(f"{dump_call(logged)}\n" for logged in store.calls())
        else:
            {"jsonl": write_jsonl, "csv": write_csv}[args.format](store.records(), sys.stdout)
    return 0


_RESULTS = {"battles": write_battles, "matrix": write_matrix, "verdicts": write_verdicts}
"""Writers of results and verdicts, by format."""


def print_leaderboards(config: RunConfig, store: Store, *, wide: bool = False) -> None:
    """Prints the leaderboards and costs of a run; ``wide`` as for ``print_tables``."""
    _print_results(*_tables(RunSource(config, store, "")), wide)


def _tables(source: Source) -> tuple[list[Leaderboard | Summary], Costs | None]:
    """Returns the leaderboards, with the summary for two or more environments, and the costs."""
    tables = source.tables()
    return tables, source.costs([table for table in tables if isinstance(table, Leaderboard)])


def _print_results(tables: list[Leaderboard | Summary], spent: Costs | None, wide: bool) -> None:
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


def print_grid(grid: Grid) -> None:
    """Prints a table of texts."""
    _console().print(render_grid(grid))


def _console(widest: int | None = None) -> Console:
    """Returns a console as wide as the terminal, or unlimited in a pipe, but at most ``widest``."""
    width = Console().width if sys.stdout.isatty() else _ENDLESS
    return Console(width=min(width, widest or _ENDLESS))


def write_report(directory: Path, path: Path) -> Path:
    """Writes the report of a run or an import, and its figures as files. Writes nothing if reading fails.

    Args:
        directory: run or import directory, or a log file.
        path: path of the page; the figures go to ``plots_directory``.

    Returns:
        The absolute path of the page.

    Raises:
        RunError: if the path is a link or not writable.
    """
    from rating.report.plots import write_plots  # matplotlib is slow to import

    if path == directory / REPORT:
        beside = directory / "plots"
        run_directory.check_no_links([path, beside, *(beside.iterdir() if beside.is_dir() else ())])
    with open_source(directory) as source:
        page = source.page()
        try:
            with replacing_text(path) as file:
                page.write(file)
            if (plots := plots_directory(directory, path)) is not None:
                write_plots(page.plots, plots)
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise
            raise RunError(
                f"{path}: expected a place that can be written, got: {error.strerror}; name one with --output FILE"
            ) from error
    return path.resolve()


def plots_directory(directory: Path, path: Path) -> Path | None:
    """Returns the directory of a report's figures: ``DIR/plots``, or ``PAGE-plots`` for a page elsewhere.

    Args:
        directory: run or import directory.
        path: path of the written page.

    Returns:
        ``None`` if the page is a pipe or a device.
    """
    path = path.resolve()
    if not path.is_file():
        return None
    is_usual = path == directory.resolve() / REPORT
    return path.with_name("plots" if is_usual else f"{path.stem}-plots")


def report_page(directory: Path, title: str, matches: Collection[str] | None = None) -> str:
    """Returns the report page of a run as HTML, with the given matches (ids) or by default all."""
    with RunSource(*run_directory.open_run(directory), title) as source:
        page = io.StringIO()
        source.page(matches).write(page)
        return page.getvalue()


def _print_array(records: Iterable[Record]) -> None:
    """Prints records as a JSON array, without holding all of them in memory."""
    opening = "["
    for record in records:
        text = json.dumps(record_table(record), indent=2, ensure_ascii=False)
        print(f"{opening}\n  " + text.replace("\n", "\n  "), end="")
        opening = ","
    print("\n]" if opening == "," else "[]")
