"""``llmarena migrate``: the tables of a run of an older version become those of this one, after a back-up."""

import argparse
from contextlib import closing
from pathlib import Path

from llmarena_envs.core.options import OptionError
from rating.commands.extras import check_postgres
from rating.records import sqlite
from rating.records.file import open_file
from rating.records.postgres.address import Address, parse_address
from rating.records.sqlite import SCHEMA_VERSION
from rating.running.lock import Lock
from rating.running.places import DATABASE, address_of
from rating.running.run_directory import check_exists


def migrate(args: argparse.Namespace) -> None:
    """Migrates a run and says what was done."""
    address = _address(args)
    done = _in_file(args) if address is None else _in_postgres(address, args.backup)
    print("\n".join([*done, f"back-up: {args.backup}"]) if done else "nothing to do: the run is of this version")


def _address(args: argparse.Namespace) -> Address | None:
    """Returns where on a server the run is; ``None`` if it is in a file."""
    if "://" in args.place:
        address = parse_address(args.place)
        return address if args.run is None and address.run else address.of(args.run or "")
    if args.run is not None:
        raise OptionError("run: expected no name of a run with a directory, which holds one; leave it out")
    check_exists(Path(args.place))
    return address_of(Path(args.place))


def _in_file(args: argparse.Namespace) -> list[str]:
    return migrate_file(Path(args.place) / DATABASE, args.backup)


def migrate_file(path: Path, backup: Path) -> list[str]:
    """Converts the database of a run in a file, which otherwise happens without a back-up when it is opened.

    Args:
        path: the file.
        backup: copy of the file as it was, which is made if there is something to do.

    Returns:
        What was done.

    Raises:
        RunError: if the run is being played, or the back-up cannot be made; nothing was changed then.
    """
    with Lock(path.parent):
        with closing(sqlite.open_existing(path)) as db:
            version = db.version()
            if version == SCHEMA_VERSION:
                return []
            db.back_up(backup)
        open_file(path).close()
    return [f"converted from schema version {version} to {SCHEMA_VERSION}"]


def _in_postgres(address: Address, backup: Path) -> list[str]:
    check_postgres()
    from rating.records.postgres.migrations import migrate

    return migrate(address, backup)
