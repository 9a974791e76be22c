"""The location of a run's store: a file in its directory, or a server named by a file in its directory.

The database libraries are imported when a store is opened.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.replacing import replacing_text
from rating.store.address import Address, parse_address

if TYPE_CHECKING:
    from rating.store.store import Store

DATABASE = "run.db"
SERVER = "store.json"
"""Name of the file that holds the server and the name of the run there."""

UNFINISHED_DATABASE = DATABASE + ".new"
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
    """Records the server address of a run."""
    text = json.dumps({"url": address.anchored().url, "run": address.run}, indent=2)
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
    store = create_on_server(address)
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
    if address is not None:
        return open_on_server(address, read_only=read_only)
    return open_file(path / DATABASE, read_only=read_only)


def create_file(path: Path) -> "Store":
    """Makes the store of a new run in an SQLite file.

    Raises:
        RunError: if the file exists.
    """
    from rating.store import sqlite
    from rating.store.store import Store

    return Store(sqlite.create(path), is_new=True)


def open_file(path: Path, *, read_only: bool = False) -> "Store":
    """Opens the store of a run in an SQLite file.

    Runs on a read-only file system can be read, even after the process was killed.

    Args:
        path: the file.
        read_only: whether to write nothing; another process may write at the same time.

    Raises:
        RunError: if it does not exist, is damaged, is not a database of this suite, or has another schema version. It is not
            changed.
    """
    from rating.store import sqlite
    from rating.store.store import Store

    return Store(sqlite.open_to_read(path) if read_only else sqlite.open_existing(path))


def create_on_server(address: Address) -> "Store":
    """Makes the store of a new run in PostgreSQL.

    Raises:
        RunError: if the name is taken or the server refuses.
        OptionError: if a required package is missing.
    """
    with _packages():
        from rating.store import postgres
        from rating.store.store import Store
    return Store(postgres.create(address), is_new=True)


def open_on_server(address: Address, *, read_only: bool = False) -> "Store":
    """Opens the store of a run in PostgreSQL.

    Args:
        address: address of the run.
        read_only: whether to refuse writes.

    Raises:
        RunError: if it does not exist, is damaged, was written by another version, or the server refuses.
        OptionError: if a required package is missing.
    """
    with _packages():
        from rating.store import postgres
        from rating.store.store import Store
    return Store(postgres.open_existing(address, read_only=read_only))


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
