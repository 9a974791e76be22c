"""Cache of model replies, which avoids paying for a request twice.

A cache file is also a cassette: it allows an identical offline replay of a run.
"""

import asyncio
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from agents.errors import ProviderError
from agents.models.server.endpoint import Endpoint
from agents.policy import Reply
from agents.private_file import create_private
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError

FILE = "replies.db"
"""File name in the cache directory."""

APPLICATION_ID = 0x4C4D4163  # "LMAc"; identifies the file as a reply cache
SCHEMA_VERSION = 1
BUSY_TIMEOUT = 30.0
"""Seconds that a write waits for other processes."""

_TABLE = "CREATE TABLE reply (key TEXT PRIMARY KEY, model TEXT NOT NULL, reply BLOB NOT NULL)"
_STORED = (Failure.OK, Failure.TRUNCATED)
_LONG = 1000  # replies of at least this many bytes are compressed
_LARGEST = 64 << 20  # most bytes of a stored reply; larger data were not written here
_FIELDS = (
    "text", "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "reasoning", "detail",
)  # fmt: skip
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class ReplyCache:
    """Model replies by request; several processes can share one cache.

    Only the model's answers are stored: no errors, no empty, refused or filtered replies. Replies cut at the token limit are
    stored if they have text. Each write is a transaction of its own, which survives ``kill -9``.

    Args:
        directory: the cache directory.
        create: whether to create directory and file; otherwise they must exist.

    Attributes:
        path: the file.

    Raises:
        OptionError: if the cache is missing and must exist, or the file is not a cache, is damaged, or has a newer version. The
            file is not changed.
    """

    def __init__(self, directory: Path, *, create: bool = True) -> None:
        self.path = directory / FILE
        if create:
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OptionError(f"cache: expected a directory that can be made or is there, but: {error}") from error
        elif not self.path.exists():
            raise OptionError(
                f"cache: expected a {FILE} in {directory}, but there is none: it is made by a run with --cache"
            )
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        try:
            self._db = self._connect()
        except sqlite3.Error as error:
            raise OptionError(f"cache: {self.path} cannot be opened: {error}") from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise OptionError(f"cache: expected a cache of replies in {self.path}, but SQLite says: {error}") from error
        except OptionError:
            self._db.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        with suppress(OSError):  # SQLite handles an existing file, and one that cannot be created
            create_private(self.path)
        where = self.path.absolute().as_uri()
        writable = os.access(self.path.parent, os.W_OK) and (not self.path.exists() or os.access(self.path, os.W_OK))
        if not writable and not self.path.with_name(f"{FILE}-wal").exists():
            where += "?immutable=1"  # otherwise SQLite creates auxiliary files even for reading
        # Users of the service share one event loop at a time, but not always the same thread.
        return sqlite3.connect(where, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)

    def _prepare(self) -> None:
        """Creates the table in a new file, and validates an existing one."""
        if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone() and not self._number("application_id"):
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("BEGIN IMMEDIATE")
            if not self._number("application_id"):  # otherwise another process was faster
                self._db.execute(_TABLE)
                self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self._db.execute("COMMIT")
        if self._number("application_id") != APPLICATION_ID:
            raise OptionError(f"cache: {self.path} was not written by llmarena; nothing in it was changed")
        if (version := self._number("user_version")) > SCHEMA_VERSION:
            raise OptionError(
                f"cache: {self.path}: expected schema version {SCHEMA_VERSION} or older, got {version}: it was written by a"
                " newer version of llmarena-envs; install that version, or name another directory"
            )
        self._db.execute("SELECT key, model, reply FROM reply LIMIT 1")
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _number(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])

    def lock(self, key: str) -> asyncio.Lock:
        """Returns the lock of a key, which serialises concurrent requests for the same reply."""
        return self._locks.setdefault(key, asyncio.Lock())

    def find(self, key: str) -> Reply | None:
        """Returns the cached reply of a key, or ``None`` without one.

        Raises:
            ProviderError: if the file cannot be read, or holds invalid data.
        """
        with self._failures(key):
            row = self._db.execute("SELECT reply FROM reply WHERE key = ?", (key,)).fetchone()
            return _load(row[0]) if row else None

    def keep(self, key: str, model: str, reply: Reply) -> Reply:
        """Stores a reply that is an answer of the model.

        Args:
            key: of the request.
            model: name of the model, for inspection of the file.
            reply: the reply.

        Returns:
            The reply as read from the cache; if another process was faster, its reply.

        Raises:
            ProviderError: if the file cannot be written.
        """
        if reply.kind not in _STORED or not reply.text.strip():
            return reply
        with self._failures(key):
            data = _dump(reply)
            if data is None:
                return reply
            self._db.execute("INSERT OR IGNORE INTO reply VALUES (?, ?, ?)", (key, model, data))
            (stored,) = self._db.execute("SELECT reply FROM reply WHERE key = ?", (key,)).fetchone()
            return replace(_load(stored), calls=reply.calls, waited=reply.waited, request_id=reply.request_id)

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    @contextmanager
    def _failures(self, key: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise ProviderError(f"the cache {self.path} cannot be used: {error}", final=True) from error
        except (ValueError, TypeError, KeyError, RecursionError, zlib.error) as error:
            raise ProviderError(
                f"the cache {self.path} is damaged: expected a reply under the key {key}, got something else ({error}); take the"
                f" row out (DELETE FROM reply WHERE key = '{key}'), or use another directory",
                final=True,
            ) from error


def cache_key(endpoint: Endpoint, model: str, request: Mapping[str, Any], sample: str) -> str:
    """Returns the key of a reply: 64 hexadecimal digits.

    Args:
        endpoint: the server; its address counts, its key does not.
        model: name of the model.
        request: the complete request; JSON values.
        sample: distinguishes independent samples of the same request.
    """
    address, query = endpoint.split()
    asked = [SCHEMA_VERSION, (address or "").rstrip("/"), query, model, request, sample]
    return hashlib.sha256(_canonical(asked).encode()).hexdigest()


def _dump(reply: Reply) -> bytes | None:
    """Returns a reply in the stored format; ``None`` if it is too large."""
    table = {"kind": reply.kind.name, **{name: getattr(reply, name) for name in _FIELDS}}
    data = json.dumps(table, separators=(",", ":")).encode()
    if len(data) > _LARGEST:
        return None
    return zlib.compress(data) if len(data) >= _LONG else data


def _load(data: object) -> Reply:
    """Reads the format of ``_dump``; raises one of several errors if the data are invalid."""
    if not isinstance(data, bytes):
        raise TypeError(f"no bytes but {type(data).__name__}")
    if data[:1] != b"{":
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(data, _LARGEST)
        if not unpacker.eof and len(data) == _LARGEST:
            raise ValueError(f"it unpacks to more than {_LARGEST >> 20} MiB")
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError("packed data that end too early or too late")
    table = json.loads(data)
    if not isinstance(table, dict) or table.keys() != {"kind", *_FIELDS}:
        raise ValueError(f"{str(table)[:80]!r}")
    kind = Failure[table.pop("kind")]
    counts = [table[name] for name in _FIELDS if name.endswith("_tokens")]
    if kind not in _STORED or not isinstance(table["reasoning"], str) or not isinstance(table["detail"], dict | None):
        raise ValueError(f"{str(table)[:80]!r}")
    if any(count is not None and (type(count) is not int or count < 0) for count in counts):
        raise ValueError(f"counts of tokens {counts}")
    return Reply(kind=kind, **table)
