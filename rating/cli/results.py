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
from rating.readers.formats import AUTO, FORMATS
from rating.viewer.report.costs import DECIMALS as COST_DECIMALS
from rating.viewer.report.style import style_sheet
from rating.viewer.report.tables import WIDTH, to_json
from rating.viewer.report.write import REPORT, plots_directory, write_page_of
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


def rate(args: argparse.Namespace) -> None:
    """Prints the leaderboards."""
    with opened(args) as source:
        tables, spent = tables_of(source)
        controls = style_controls(source, args.style) if args.style else {}
    if args.json:
        parts = [to_json(table) for table in tables]
        parts += [to_json({"environment": name, "style_control": control}) for name, control in controls.items()]
        parts += [to_json({"costs": spent}, COST_DECIMALS)] if spent else []
        print("[" + ",\n".join(parts) + "]")
    else:
        print_results(tables, spent, args.detail)
        shown = [style_sheet(control, name) for name, control in controls.items()]
        print_sheets(shown, widest=None if args.detail == "wide" else WIDTH)


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``report``."""
    add_source(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="output file (default: DIR/report.html); figures are written to plots/ or FILE-plots/",
    )


def report(args: argparse.Namespace) -> None:
    """Writes the report and prints its path."""
    directory: Path = args.paths[0]
    if directory.is_file() and not args.output:
        raise OptionError(f"{directory}: a report of a log needs --output FILE")
    with opened(args) as source:
        path = write_page_of(source, directory, args.output or directory / REPORT)
    plots = plots_directory(directory, path)
    if plots is not None and not any(plots.glob("*.svg")):  # no match with a counted result
        plots = None
    if args.json:
        print(json.dumps({"report": str(path), "plots": plots and str(plots)}))
    else:
        print(f"Report: {path}" + (f"\nPlots: {plots}" if plots else ""))
