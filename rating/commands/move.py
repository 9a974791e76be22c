"""``llmarena move``: a run goes on in PostgreSQL, or in a file again."""

import argparse
import sys

from llmarena_envs.core.terminal import printable
from rating.commands.extras import check_postgres
from rating.records.postgres.address import parse_address

_FILE = "sqlite"


def move(args: argparse.Namespace) -> None:
    """Moves a run and says where it is."""
    check_postgres()
    from rating.running.moving import move_to_file, move_to_server

    if args.store == _FILE:
        damage, place = move_to_file(args.dir), f"a file in {args.dir}"
    else:
        address = parse_address(args.store)
        address = address if address.run else address.of(args.dir.resolve().name)
        damage, place = move_to_server(args.dir, address), str(address)
    for line in damage:
        print(printable(f"llmarena: the log of calls: {line}; left out"), file=sys.stderr)
    print(printable(f"The run goes on in {place}; what it was in is kept."))
