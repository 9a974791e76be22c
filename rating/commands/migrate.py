"""``llmarena migrate``: the tables of a run of an older version become those of this one, after a back-up."""

import argparse
from contextlib import closing
from pathlib import Path

from llmarena_envs.core.options import OptionError
from rating.records import sqlite
from rating.records.file import open_file
from rating.records.sqlite import SCHEMA_VERSION
from rating.running.lock import Lock
from rating.running.places import DATABASE, address_of
from rating.running.run_directory import check_exists


def migrate(args: argparse.Namespace) -> None:
    """Migrates a run and says what was done."""
    check_exists(args.dir)
    if (address := address_of(args.dir)) is not None:
        raise OptionError(f"{args.dir}: expected a run in a file, but it is {address}")
    done = migrate_file(args.dir / DATABASE, args.backup)
    print("\n".join([*done, f"back-up: {args.backup}"]) if done else "nothing to do: the run is of this version")


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
