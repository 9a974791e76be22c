"""``llmarena rate``: the leaderboards of a run or an import."""

import argparse

from rating.cli import flags
from rating.cli.printing import print_results, print_sheets, tables_of
from rating.viewer.report.costs import DECIMALS as COST_DECIMALS
from rating.viewer.report.style import style_sheet
from rating.viewer.report.tables import WIDTH, to_json
from rating.viewer.source import open_source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_results(parser)
    flags.add_wide(parser)
    parser.add_argument(
        "--style",
        type=flags.names,
        default=(),
        metavar="NAMES",
        help="also rate with the style of judged texts held equal: length, format (headers, lists, bold), or length,format",
    )


def main(args: argparse.Namespace) -> None:
    """Prints the leaderboards of a run or an import."""
    with open_source(args.dir) as source:
        tables, spent = tables_of(source)
        controls = source.style_controls(args.style) if args.style else {}
    if args.json:
        parts = [to_json(table) for table in tables]
        parts += [to_json({"environment": name, "style_control": control}) for name, control in controls.items()]
        parts += [to_json({"costs": spent}, COST_DECIMALS)] if spent else []
        print("[" + ",\n".join(parts) + "]")
    else:
        print_results(tables, spent, args.wide)
        shown = [style_sheet(control, name) for name, control in controls.items()]
        print_sheets(shown, widest=None if args.wide else WIDTH)
