"""``llmarena rate`` and ``report``, and the results that reading commands open: of a run or of log files."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.cli import flags
from rating.cli.printing import print_results, print_sheets
from rating.cli.progress import progress_line
from rating.readers.formats import AUTO, FORMATS
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.viewer.answer import answers
from rating.viewer.regret import GameRegret, regret_sheet, regrets_of
from rating.viewer.report.costs import DECIMALS as COST_DECIMALS
from rating.viewer.report.style import style_sheet
from rating.viewer.report.tables import WIDTH, to_json
from rating.viewer.report.write import PLOTS, REPORT, write_page_of
from rating.viewer.source import LogSource, Source, open_source, style_controls, tables_of


def add_source(parser: argparse.ArgumentParser, *, several: bool = True) -> None:
    """Adds the run directory or log files of a command that reads results, and how to read them."""
    parser.add_argument(
        "paths",
        nargs="+" if several else None,
        type=flags.local_path,
        metavar="DIR|FILE",
        help="run directory, or log files of one format" if several else "run directory, or log file",
    )
    parser.add_argument(
        "--log-format",
        default=AUTO,
        metavar="FORMAT",
        help=f"format of log files: {', '.join(FORMATS)} (default: detected)",
    )
    parser.add_argument("--metric", default="", metavar="NAME", help="metric to compare in log files with several")
    parser.add_argument(
        "--seated", action="store_true", help="the first policy of a battle in a log sat first: fit its advantage"
    )
    flags.add_trust(parser)


@contextmanager
def opened(args: argparse.Namespace) -> Iterator[Source]:
    """Opens the results of ``add_source``, and prints the first rejected rows of log files."""
    with open_source(args.paths, args.log_format, args.metric, seated=args.seated) as source:
        if isinstance(source, LogSource):
            for row in source.log.rejected:
                print(printable(f"left out: {row.file}, {row.where}: {row.reason}"), file=sys.stderr)
            if more := source.log.num_rejected - len(source.log.rejected):
                print(f"and {more} more rows", file=sys.stderr)
        yield source


def add_rate_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``rate``."""
    add_source(parser)
    flags.add_detail(parser)
    parser.add_argument(
        "--style",
        type=flags.names,
        default=(),
        metavar="NAMES",
        help="also print style-controlled ratings: length, format (headers, lists, bold), or length,format",
    )
    parser.add_argument(
        "--regret",
        action="store_true",
        help="also print the reward that moves give up against solved play, in tictactoe_v0, connect_four_v0 and bid_v0",
    )


def rate(args: argparse.Namespace) -> None:
    """Prints the leaderboards."""
    with opened(args) as source:
        tables, spent = tables_of(source)
        controls = style_controls(source, args.style) if args.style else {}
        regrets = _regrets(source) if args.regret else []
    if args.json:
        boards = [table for table in tables if isinstance(table, Leaderboard)]
        summary = next((table for table in tables if isinstance(table, Summary)), None)
        parts = {
            "answer": to_json(answers(tables)),
            "leaderboards": to_json(boards),
            "summary": to_json(summary),
            "style_control": to_json(controls),
            "regret": to_json(regrets),
            "costs": to_json(spent, COST_DECIMALS),
        }
        print("{" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "}")
    else:
        print_results(tables, spent, args.detail)
        shown = [style_sheet(control, name) for name, control in controls.items()] + [*map(regret_sheet, regrets)]
        print_sheets(shown, widest=None if args.detail == "wide" else WIDTH)


def _regrets(source: Source) -> list[GameRegret]:
    if isinstance(source, LogSource):
        raise OptionError("--regret: expected a run, whose matches can be replayed, got log files")
    with progress_line("Regret") as show:
        return regrets_of(source, show)


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``report``."""
    add_source(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="output file (default: DIR/report.html)",
    )
    parser.add_argument(
        "--plots",
        type=Path,
        nargs="?",
        const=True,
        metavar="FOLDER",
        help="also write the figures as SVG and PNG files (default: into DIR/plots)",
    )


def report(args: argparse.Namespace) -> None:
    """Writes the report and prints the paths of the page and the figures."""
    directory: Path = args.paths[0]
    if directory.is_file() and not args.output:
        raise OptionError(f"{directory}: a report of a log needs --output FILE")
    plots: Path | None = directory / PLOTS if args.plots is True else args.plots
    if directory.is_file() and args.plots is True:
        raise OptionError(f"{directory}: figures of a log need --plots FOLDER")
    with opened(args) as source, progress_line("Report") as show:
        written = write_page_of(source, directory, args.output or directory / REPORT, plots, show)
    folder = str(plots.resolve()) if plots is not None and written.plots else None  # no figure without a result
    if args.json:
        print(json.dumps({"report": str(written.page), "plots": folder}))
    else:
        print(f"Report: {written.page}" + (f"\nPlots: {folder}" if folder else ""))
