"""``llmarena replay``: shows recorded matches, or verifies them."""

import argparse
import json
from collections.abc import Iterable
from contextlib import closing
from itertools import chain

from rating.cli import flags
from rating.cli.matches import headline, print_match
from rating.cli.verification import no_such_match, verify_run
from rating.play import run_directory
from rating.store.export import record_table
from rating.store.records import Record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_run(parser)
    flags.add_trust(parser)
    parser.add_argument("match", nargs="?", default="", metavar="MATCH", help="match id, or its beginning")
    parser.add_argument(
        "--raw", action="store_true", help="show what was read, thought and replied, also where a story is told"
    )
    parser.add_argument("--verify", action="store_true", help="check every hash, play again and compare everything")


def main(args: argparse.Namespace) -> int:
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


def _print_array(records: Iterable[Record]) -> None:
    """Prints records as a JSON array, without holding all of them in memory."""
    opening = "["
    for record in records:
        text = json.dumps(record_table(record), indent=2, ensure_ascii=False)
        print(f"{opening}\n  " + text.replace("\n", "\n  "), end="")
        opening = ","
    print("\n]" if opening == "," else "[]")
