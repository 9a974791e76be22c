"""The location of a run's store: an SQLite file in its directory, or a PostgreSQL server named by a file there.

The database libraries are imported when a store is opened.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.replacing import UNFINISHED, replacing_text
from rating.store.address import CERTIFICATES, Address, parse_address

if TYPE_CHECKING:
    from rating.store.store import Store

DATABASE = "run.db"
SERVER = "store.json"
"""Name of the file that holds the server and the name of the run there."""

UNFINISHED_DATABASE = DATABASE + UNFINISHED
FILES = (SERVER, UNFINISHED_DATABASE, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")


def has_store(path: Path) -> bool:
    """Returns whether a directory has the store of a run."""
    return any((path / name).exists() for name in (SERVER, DATABASE))


def address_of(path: Path) -> Address | None:
    """Returns the server address of a run; ``None`` if its store is a file.

    Raises:
        RunError: if the address cannot be read.
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
    """Records the server address of a run, with absolute paths of certificate files."""
    files = {name: str(Path(address.options[name]).absolute()) for name in CERTIFICATES if name in address.options}
    anchored = replace(address, options={**address.options, **files})
    text = json.dumps({"url": anchored.url, "run": address.run}, indent=2)
    with replacing_text(path / SERVER) as file:
        file.write(text + "\n")


def create_store(path: Path, address: Address | None) -> "Store":
    """Makes the store of a new run.

    Args:
        path: directory of the run.
        address: of the run on a server; ``None`` for a file.

    Raises:
        RunError: if there is one already, or it cannot be made.
        OptionError: if a required package is missing.
    """
    if address is None:
        return create_file(path / DATABASE)
    with _packages():
        from rating.store import postgres
        from rating.store.store import Store
    store = Store(postgres.create(address), is_new=True)
    set_address(path, address)
    return store


def open_store(path: Path, *, read_only: bool = False) -> "Store":
    """Opens the store of a run.

    Args:
        path: directory of the run.
        read_only: whether to open it for reading only; another process can play the run meanwhile.

    Raises:
        RunError: if it cannot be opened.
        OptionError: if a required package is missing.
    """
    address = address_of(path)
    if address is None:
        return open_file(path / DATABASE, read_only=read_only)
    with _packages():
        from rating.store import postgres
        from rating.store.store import Store
    return Store(postgres.open_existing(address, read_only=read_only))


def create_file(path: Path) -> "Store":
    """Makes the store of a new run in an SQLite file.

    Raises:
        RunError: if the file exists.
    """
    from rating.store import sqlite
    from rating.store.store import Store

    return Store(sqlite.create(path), is_new=True)


def open_file(path: Path, *, read_only: bool = False) -> "Store":
    """Opens the store of a run in an SQLite file; see ``sqlite.open_existing``."""
    from rating.store import sqlite
    from rating.store.store import Store

    return Store(sqlite.open_existing(path, read_only=read_only))


def discard_store(path: Path) -> None:
    """Deletes the store of a run without any turns.

    Raises:
        RunError: if another process plays the run.
    """
    address = address_of(path)
    if address is not None:
        with _packages():
            from rating.store import postgres
        postgres.drop(address)
    for name in FILES:
        (path / name).unlink(missing_ok=True)


@contextmanager
def _packages() -> Iterator[None]:
    """Names the package to install if an import in the block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise OptionError(
            f"a run in PostgreSQL needs {error.name!r}, which is not installed: pip install 'llmarena-envs[postgres]'"
        ) from error
