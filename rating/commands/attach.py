"""``llmarena attach``: a directory for a run that another machine has begun."""

import argparse
from pathlib import Path

from rating.commands.playing import free_directory
from rating.records.postgres.address import parse_address
from rating.running import run_directory


def attach(args: argparse.Namespace) -> None:
    """Makes the directory, by which every command that reads a run can be told which one, and ``resume`` too."""
    address = parse_address(args.url).of(args.run)
    out = args.out or free_directory(Path(args.run))
    run_directory.attach(address, out)
    print(f"Run: {out}  (llmarena rate {out}, llmarena report {out}, llmarena resume {out})")
