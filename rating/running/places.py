"""Where the store of a run is: in a file of its directory, or on a server that a file of its directory names."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.records import sqlite
from rating.records.file import create_file, open_file
from rating.records.postgres.address import Address, parse_address
from rating.records.store import Store
from rating.replacing import replacing_text

DATABASE = "run.db"
SERVER = "store.json"
"""Says on which server the run is, and under which name."""

UNFINISHED_DATABASE = DATABASE + sqlite.UNFINISHED
FILES = (SERVER, UNFINISHED_DATABASE, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")


def has_store(path: Path) -> bool:
    """Says whether a directory has the store of a run."""
    return any((path / name).exists() for name in (SERVER, DATABASE))


def address_of(path: Path) -> Address | None:
    """Returns where on a server the run of a directory is; ``None`` if it is in a file.

    Raises:
        RunError: if what says so cannot be read.
    """
    file = path / SERVER
    if not file.exists():
        return None
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        return parse_address(str(known["url"])).of(str(known["run"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError, OptionError) as error:
        raise RunError(f"{file}: expected url and run of a run in PostgreSQL, but: {error}") from error


def set_address(path: Path, address: Address) -> None:
    """Says that the run of a directory is on a server."""
    text = json.dumps({"url": address.anchored().url, "run": address.run}, indent=2)
    with replacing_text(path / SERVER) as file:
        file.write(text + "\n")


def create_store(path: Path, address: Address | None) -> Store:
    """Makes the store of a new run.

    Args:
        path: directory of the run.
        address: of the run on a server; ``None`` for a file.

    Raises:
        RunError: if there is one already, or it cannot be made.
        OptionError: if a package is missing that it needs.
    """
    if address is None:
        return create_file(path / DATABASE)
    with _packages():
        from rating.records.server import create_on_server
    store = create_on_server(address)
    set_address(path, address)
    return store


def open_store(path: Path, *, read_only: bool = False) -> Store:
    """Opens the store of a run.

    Args:
        path: directory of the run.
        read_only: whether it is only looked at, beside somebody who may be playing it.

    Raises:
        RunError: if it cannot be opened.
        OptionError: if a package is missing that it needs.
    """
    address = address_of(path)
    if address is not None:
        with _packages():
            from rating.records.server import open_on_server
        return open_on_server(address, read_only=read_only)
    return open_file(path / DATABASE, read_only=read_only)


def discard_store(path: Path) -> None:
    """Deletes the store of a run of which nothing was played.

    Raises:
        RunError: if somebody plays the run.
    """
    address = address_of(path)
    if address is not None:
        with _packages():
            from rating.records.postgres import runs
        runs.drop(address)
    for name in FILES:
        (path / name).unlink(missing_ok=True)


@contextmanager
def _packages() -> Iterator[None]:
    """Says what to install if a package is missing that is imported within."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise OptionError(
            f"a run in PostgreSQL needs {error.name!r}, which is not installed: pip install 'llmarena-envs[postgres]'"
        ) from error
