"""A run moves from the file of its directory to a server, or back, and goes on there.

Nothing is deleted. What says where the run is changes in one moment, by a renaming, after the copy has been checked; whoever is
killed before that has moved nothing, whoever is killed after that has moved everything, and both may be done again.
"""

from contextlib import closing
from itertools import count
from pathlib import Path

from rating.errors import RunError, StoreError
from rating.records import sqlite
from rating.records.calls import CALLS, CallFile, CallLog
from rating.records.copying import check_same, check_sound, copy_run
from rating.records.file import open_file
from rating.records.postgres import connection, runs, schema
from rating.records.postgres.address import Address
from rating.records.postgres.calls import CallTable, enter_calls
from rating.running.lock import Lock
from rating.running.places import DATABASE, DATABASE_FILES, SERVER, address_of, set_address
from rating.running.run_directory import check_exists

_ASIDE = ".moved"
"""Behind the name of what is no longer the run."""


def move_to_server(path: Path, address: Address) -> list[str]:
    """Moves a run from the file of its directory to a server.

    Args:
        path: the directory.
        address: of the run on the server; there is none of this name, or a copy that an interrupted move has left.

    Returns:
        What could not be read of the log of calls, and stays in the old one.

    Raises:
        RunError: if the run is being played, damaged, or cannot be copied.
    """
    check_exists(path)
    with Lock(path):
        if (known := address_of(path)) is not None:
            raise RunError(f"{path}: expected a run in a file, but it is {known} already")
        open_file(path / DATABASE).close()  # which makes its tables those of this version
        with closing(sqlite.open_existing(path / DATABASE)) as source, closing(connection.Postgres(address)) as target:
            check_sound(source)
            target.lock()
            runs.check_not_moved(target)
            if target.exists():
                damage = []
                _check_left(source, target)
            else:
                damage = _copy_to_server(source, target, path / CALLS)
                check_same(source, target)
        set_address(path, address)
        for name in (*DATABASE_FILES, CALLS):
            _set_aside(path / name)
    return damage


def _check_left(source: sqlite.Sqlite, target: connection.Postgres) -> None:
    """Checks that what is on the server already is the copy that an interrupted move has left."""
    try:
        check_same(source, target)
    except StoreError:
        raise
    except RunError as error:
        raise RunError(f"{error}; to give this run another name: ?run=NAME behind the address") from error


def _copy_to_server(source: sqlite.Sqlite, target: connection.Postgres, call_file: Path) -> list[str]:
    """Copies a run in one transaction; returns what could not be read of the log of calls."""
    log = CallFile(call_file)
    log.writer().close()  # what was under way when the run was killed is lost, and counts
    calls = log.reader()
    with target.transaction():
        runs.make_tables(target)
        copy_run(source, target)
        enter_calls(target, calls)
    return list(calls.damage)


def move_to_file(path: Path) -> list[str]:
    """Moves a run from a server to a file of its directory.

    Args:
        path: the directory.

    Returns:
        What could not be read of the log of calls, and stays on the server.

    Raises:
        RunError: if the run is being played, damaged, or cannot be copied.
    """
    check_exists(path)
    with Lock(path):
        address = address_of(path)
        if address is None:
            raise RunError(f"{path}: expected a run on a server, but it is in a file of this directory already")
        with closing(runs.open_existing(address)) as source:
            source.lock()
            check_sound(source)
            copied, calls = _copy_to_file(source, path)
            for name in (*DATABASE_FILES, CALLS):
                _set_aside(path / name)
            if (path / _unfinished(CALLS)).exists():
                (path / _unfinished(CALLS)).replace(path / CALLS)
            copied.replace(path / DATABASE)
            _set_aside(path / SERVER)
            source.execute(schema.comment_moved(address.schema))
    return calls


def _copy_to_file(source: connection.Postgres, path: Path) -> tuple[Path, list[str]]:
    """Copies a run into new files; returns that of the database, and what could not be read of the log of calls."""
    copied, log = path / _unfinished(DATABASE), CallLog(path / _unfinished(CALLS))
    for name in (copied.name, *(f"{copied.name}-{part}" for part in ("wal", "shm")), _unfinished(CALLS)):
        (path / name).unlink(missing_ok=True)  # of a move that was interrupted
    with closing(sqlite.create(copied)) as target:
        with target.transaction():
            copy_run(source, target)
        check_same(source, target)
    table = CallTable(source)
    table.writer().close()  # what was under way when somebody was killed is lost, and counts
    calls = table.reader()
    with closing(log):
        for call in calls:
            log.write(call)
    return copied, list(calls.damage)


def _unfinished(name: str) -> str:
    return f"{name}.moving"


def _set_aside(path: Path) -> None:
    """Renames a file, if there is one, so that it is kept and nobody takes it for a part of the run."""
    if path.exists():
        names = (f"{path.name}{_ASIDE}{'' if number == 1 else number}" for number in count(1))
        path.rename(next(path.with_name(name) for name in names if not path.with_name(name).exists()))
