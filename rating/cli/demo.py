"""``llmarena demo``: both board games between all scripted policies, offline."""

import argparse
from pathlib import Path

from agents.registry import baselines
from rating.cli import flags
from rating.cli.playing import address_of, check_complete, free_directory, play_and_print, resumable
from rating.cli.report import REPORT, write_report
from rating.config.run_file import run_file_text
from rating.play import run_directory

DEMO_ENVIRONMENTS = ("tictactoe_v0", "connect_four_v0")
DEMO_SETTINGS = {"seed": 11}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument(
        "--out",
        type=flags.local_path,
        metavar="DIR",
        help="directory of the run (default: llmarena-demo, or a numbered one)",
    )
    flags.add_store(parser)
    flags.add_wide(parser)


def main(args: argparse.Namespace) -> None:
    """Plays the board games between all scripted policies and writes the report."""
    specs = sorted({name for environment in DEMO_ENVIRONMENTS for name in baselines(environment)})
    out = args.out or free_directory(Path("llmarena-demo"))
    text = run_file_text(list(DEMO_ENVIRONMENTS), specs, DEMO_SETTINGS)
    with resumable(out):
        run, store = run_directory.create(out, text, "demo", address=address_of(args))
        missing = play_and_print(out, run, store, args.interruptions, args.wide)
    print(f"\nReport: {write_report(out, out / REPORT)}")
    check_complete(out, *missing)
