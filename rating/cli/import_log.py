"""``llmarena import``: import external logs into a directory that can be rated and compared like a run."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from llmarena_envs.core.terminal import printable
from rating.cli import flags
from rating.readers.directory import REJECTED, write_import

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files of one format")
    parser.add_argument(
        "--format",
        default="auto",
        metavar="FORMAT",
        help="battles, pairwise, verdicts, auto-arena, matrix, lm-eval or inspect (default: what the files look like)",
    )
    parser.add_argument(
        "--out",
        type=flags.local_path,
        required=True,
        metavar="DIR",
        help="directory of the import; must be new or empty",
    )
    parser.add_argument("--seated", action="store_true", help="the first of a row sat first: fit an advantage of it")
    parser.add_argument(
        "--metric", default="", metavar="NAME", help="what is compared, where files hold several scores"
    )


def main(args: argparse.Namespace) -> None:
    """Reads files, writes the import directory, and prints the rejected rows."""
    manifest, rejected = write_import(
        args.files, args.out, format=args.format, seated=args.seated, metric=args.metric, shown=_SHOWN
    )
    for row in rejected:
        print(printable(f"left out: {row.file}, {row.where}: {row.reason}"), file=sys.stderr)
    if manifest.rejected > len(rejected):
        print(f"and {manifest.rejected - len(rejected)} more: all are in {args.out / REJECTED}", file=sys.stderr)
    if args.json:
        print(json.dumps(asdict(manifest), indent=2, ensure_ascii=False))
        return
    print(
        f"{manifest.battles} results of {manifest.policies} policies and {manifest.judgements} verdicts of named judges"
        f" ({manifest.format}); {manifest.rejected} {'row' if manifest.rejected == 1 else 'rows'} left out"
    )
    print(f"Import: {args.out}  (llmarena rate {args.out}, llmarena report {args.out})")
