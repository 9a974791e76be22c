"""``llmarena import``: import external logs into a directory that can be rated and compared like a run."""

import argparse
import json
import sys
from dataclasses import asdict

from llmarena_envs.core.terminal import printable
from rating.imports.directory import REJECTED, write_import

_SHOWN = 20


def import_log(args: argparse.Namespace) -> None:
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
