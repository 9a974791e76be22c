"""The location of a run's store: an SQLite file in its directory, or a PostgreSQL server named by a file there.

    postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE&run=NAME

An address never contains a password, since addresses are visible in files, process lists and error messages. The environment
variables ``PGPASSWORD`` and ``PGPASSFILE`` provide it. The database libraries are imported when a store is opened.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from llmarena_envs.core.options import OptionError, nearest
from rating.errors import RunError
from rating.replacing import replacing_text

if TYPE_CHECKING:
    from rating.store.store import Store

DATABASE = "run.db"
SERVER = "store.json"
"""Name of the file that holds the server and the name of the run there."""

UNFINISHED = ".new"
"""Suffix of a database file during creation."""
UNFINISHED_DATABASE = DATABASE + UNFINISHED
FILES = (SERVER, UNFINISHED_DATABASE, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")

SCHEMES = ("postgresql", "postgres")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,49}")
SCHEMA = "llmarena_"
_SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")
_UNSURE = ("disable", "prefer")
"""Modes that ignore certificates."""
_FILES = ("sslrootcert", "sslcert", "sslkey")
_OPTIONS = ("sslmode", *_FILES, "host")
_EXAMPLE = "postgresql://USER@HOST:PORT/DATABASE"
_MAY_HOLD_PASSWORD = re.compile(r":[^@]*:.*@|:(?!/).*@|pass|pwd", re.IGNORECASE | re.DOTALL)
"""Also matches passwords with ``/``, ``?`` or ``#``, which ``urlsplit`` does not recognize as passwords."""


@dataclass(frozen=True)
class Address:
    """The address of a run or a database.

    Attributes:
        user: user name; empty for the default of PostgreSQL's environment variables or the system.
        host: host name or socket directory; empty for the default.
        port: port; 0 for the default.
        database: name of the database; empty for the default.
        options: TLS options by name.
        run: name of the run; empty for a database.
    """

    user: str
    host: str
    port: int
    database: str
    options: Mapping[str, str]
    run: str = ""

    @property
    def schema(self) -> str:
        """Name of the schema with the tables of the run."""
        return SCHEMA + self.run

    @property
    def url(self) -> str:
        """The address of the database, without secrets."""
        is_socket = self.host.startswith("/")
        host = "" if is_socket else f"[{self.host}]" if ":" in self.host else self.host
        place = f"{quote(self.user, safe='')}@" * bool(self.user) + host + f":{self.port}" * bool(self.port)
        options = {**self.options, **({"host": self.host} if is_socket else {})}
        query = urlencode(sorted(options.items()), safe="/")
        return f"postgresql://{place}/{quote(self.database, safe='')}" + f"?{query}" * bool(query)

    def __str__(self) -> str:
        return f"run {self.run} in {self.url}" if self.run else self.url

    def of(self, run: str) -> "Address":
        """Returns the address of a run in the same database.

        Raises:
            OptionError: if the name is invalid.
        """
        if not _NAME.fullmatch(run):
            raise OptionError(
                f"run: expected at most 50 of the characters A-Z a-z 0-9 . _ - as the name of a run in PostgreSQL, the first a"
                f" letter or digit, got {run!r}; name it in the address: {_EXAMPLE}?run=NAME"
            )
        return replace(self, run=run)

    def arguments(self) -> dict[str, Any]:
        """Returns the arguments of ``psycopg.connect``."""
        given = {"user": self.user, "host": self.host, "port": self.port, "dbname": self.database, **self.options}
        if self.options.get("sslmode") == "verify-full" and "sslrootcert" not in self.options:
            given["sslrootcert"] = "system"
        return {name: value for name, value in given.items() if value}


def parse_address(text: str) -> Address:
    """Parses an address.

    Raises:
        OptionError: if it is invalid or contains a password, which the message does not repeat.
    """
    try:
        return _parsed(text)
    except OptionError:
        if not _MAY_HOLD_PASSWORD.search(text):
            raise
    raise OptionError(
        f"expected an address such as {_EXAMPLE} without a password, which others could read in files and in the list of"
        " processes; take it out and set PGPASSWORD, or write it into the file that PGPASSFILE names"
    )


def _parsed(text: str) -> Address:
    try:
        parts = urlsplit(text)
        port = parts.port or 0
    except ValueError as error:
        raise OptionError(f"expected an address such as {_EXAMPLE}, got {text!r}: {error}") from error
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.password is not None:
        raise OptionError("expected an address without a password")
    if parts.scheme not in SCHEMES or parts.fragment or "/" in parts.path.strip("/"):
        raise OptionError(f"expected an address such as {_EXAMPLE}, got {text!r}")
    run = query.pop("run", "")
    for name in query:
        if name not in _OPTIONS:
            known = (*_OPTIONS, "run")
            raise OptionError(f"{name}: expected an option among {', '.join(known)}{nearest(name, known)}")
    if query.get("sslmode", "disable") not in _SSL_MODES:
        raise OptionError(f"sslmode: expected one of {', '.join(_SSL_MODES)}, got {query['sslmode']!r}")
    for name in _FILES:
        if name in query and query.get("sslmode", "require") in _UNSURE:
            raise OptionError(
                f"sslmode: expected require, verify-ca or verify-full beside {name}, got {query['sslmode']!r}, in which it"
                " has no effect"
            )
        if name in query and not Path(query[name]).is_file():
            raise OptionError(f"{name}: expected a file, but there is none: {query[name]!r}")
    if any(name in query for name in _FILES):
        query.setdefault("sslmode", "verify-full")  # explicit, since libpq verifies nothing by default
    host = query.pop("host", "") or parts.hostname or ""
    address = Address(unquote(parts.username or ""), unquote(host), port, unquote(parts.path.strip("/")), query)
    return address.of(run) if run else address


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
    files = {name: str(Path(address.options[name]).absolute()) for name in _FILES if name in address.options}
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
