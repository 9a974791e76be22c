"""Addresses of runs in PostgreSQL: which are understood, and what may be shown of them.

    postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE&run=NAME

There is never a password in one, since addresses stand in files, in lists of processes and in error messages: PostgreSQL's own
variables ``PGPASSWORD`` and ``PGPASSFILE`` hold it.
"""

import re
import ssl
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
"""Modes in which no certificate has any effect."""
_FILES = ("sslrootcert", "sslcert", "sslkey")
_OPTIONS = ("sslmode", *_FILES, "host")
_EXAMPLE = "postgresql://USER@HOST:PORT/DATABASE"
_MAY_HOLD_PASSWORD = re.compile(r":[^@]*:.*@|:(?!/).*@|pass|pwd", re.IGNORECASE | re.DOTALL)
"""Also where a character such as ``/``, ``?`` or ``#`` of the password ends the part of an address in which one stands."""


@dataclass(frozen=True)
class Address:
    """Where a run is, or will be.

    Attributes:
        user: empty for the one that PostgreSQL's variables or the system name, like the following.
        host: name or directory of a socket.
        port: 0 for PostgreSQL's own.
        database: its name.
        options: those of TLS, by name.
        run: name of the run; empty where only a database is meant.
    """

    user: str
    host: str
    port: int
    database: str
    options: Mapping[str, str]
    run: str = ""

    @property
    def schema(self) -> str:
        """The schema that holds the tables of the run."""
        return SCHEMA + self.run

    @property
    def url(self) -> str:
        """The address of the database: may be shown and kept."""
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
            OptionError: if no run can have this name.
        """
        if not _NAME.fullmatch(run):
            raise OptionError(
                f"run: expected at most 50 of the characters A-Z a-z 0-9 . _ - as the name of a run in PostgreSQL, the first a"
                f" letter or digit, got {run!r}; name it in the address: {_EXAMPLE}?run=NAME"
            )
        return replace(self, run=run)

    def anchored(self) -> "Address":
        """Returns the address with files of certificates that are found from every working directory."""
        files = {name: str(Path(self.options[name]).absolute()) for name in _FILES if name in self.options}
        return replace(self, options={**self.options, **files})

    def arguments(self) -> dict[str, Any]:
        """Returns what ``asyncpg.connect`` needs to be told.

        Raises:
            OptionError: if a file of certificates cannot be used.
        """
        given = {"user": self.user, "host": self.host, "port": self.port, "database": self.database}
        return {**{name: value for name, value in given.items() if value}, **self._ssl()}

    def _ssl(self) -> dict[str, Any]:
        mode = self.options.get("sslmode", "")
        if mode in ("", *_UNSURE):
            return {"ssl": mode} if mode else {}
        try:
            context = ssl.create_default_context(cafile=self.options.get("sslrootcert"))
            if "sslcert" in self.options:
                context.load_cert_chain(self.options["sslcert"], self.options.get("sslkey"))
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(f"{name}={self.options[name]}" for name in _FILES if name in self.options)
            raise OptionError(f"{self.url}: the certificates cannot be used ({files}): {error}") from error
        context.check_hostname = mode == "verify-full"
        if mode == "require" and "sslrootcert" not in self.options:  # with one, PostgreSQL's own programs verify too
            context.verify_mode = ssl.CERT_NONE
        return {"ssl": context}


def parse_address(text: str) -> Address:
    """Returns the address that a text is.

    Raises:
        OptionError: if it is none, or holds a password, which is not repeated then.
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
        query.setdefault("sslmode", "verify-full")  # said, since PostgreSQL's own programs would verify nothing
    host = query.pop("host", "") or parts.hostname or ""
    address = Address(unquote(parts.username or ""), unquote(host), port, unquote(parts.path.strip("/")), query)
    return address.of(run) if run else address
