"""Addresses of runs and databases on a PostgreSQL server.

    postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE&run=NAME

An address never contains a password, since addresses are visible in files, process lists and error messages. The environment
variables ``PGPASSWORD`` and ``PGPASSFILE`` provide it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from llmarena_envs.core.options import OptionError, nearest

SCHEMES = ("postgresql", "postgres")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,49}")
SCHEMA = "llmarena_"
_SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")
_UNSURE = ("disable", "prefer")
"""Modes that ignore certificates."""
CERTIFICATES = ("sslrootcert", "sslcert", "sslkey")
_OPTIONS = ("sslmode", *CERTIFICATES, "host")
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
    for name in CERTIFICATES:
        if name in query and query.get("sslmode", "require") in _UNSURE:
            raise OptionError(
                f"sslmode: expected require, verify-ca or verify-full beside {name}, got {query['sslmode']!r}, in which it"
                " has no effect"
            )
        if name in query and not Path(query[name]).is_file():
            raise OptionError(f"{name}: expected a file, but there is none: {query[name]!r}")
    if any(name in query for name in CERTIFICATES):
        query.setdefault("sslmode", "verify-full")  # explicit, since libpq verifies nothing by default
    host = query.pop("host", "") or parts.hostname or ""
    address = Address(unquote(parts.username or ""), unquote(host), port, unquote(parts.path.strip("/")), query)
    return address.of(run) if run else address
