"""Recorded state of a run for the board. Each match is read once."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agents.records import encodable
from agents.turn import TurnSettings
from llmarena_envs.core.terminal import printable
from rating.play import run_directory
from rating.store import location
from rating.store.records import BUG, FINISHED, UNDECIDED, VOID, Glance, Outcome, Record
from rating.store.state import RunState
from rating.viewer.web.tables import Tables, TablesOfRun

if TYPE_CHECKING:
    from rating.store.store import Store


WAITING = "waiting"
UNDER_WAY = "under way"
STATUSES = (UNDER_WAY, WAITING, FINISHED, UNDECIDED, VOID, BUG)
"""Statuses of a match, in display order."""

_DATABASE_FILES = (location.SERVER, location.DATABASE, f"{location.DATABASE}-wal")
_FILES = (*_DATABASE_FILES, run_directory.RUN_FILE)
"""Files that change while a run is played."""

_Signature = tuple[tuple[Any, ...] | None, ...]


@dataclass(frozen=True)
class Entry:
    """A match in the list of all matches.

    Attributes:
        id: match id.
        glance: summary of the match.
        turns: number of turns played.
    """

    id: str
    glance: Glance
    turns: int

    @property
    def status(self) -> str:
        """One of ``STATUSES``."""
        if self.glance.outcome is not None:
            return self.glance.outcome.status
        return UNDER_WAY if self.turns else WAITING


@dataclass(frozen=True)
class Moment:
    """Recorded state at one moment.

    Attributes:
        entries: all matches by id, ordered by environment (as in the run file) and number.
        state: recorded state of the run.
        sealed: whether the run is complete or was stopped cleanly.
        written: time of the last write.
        signature: fingerprint of the files that were read.
    """

    entries: Mapping[str, Entry] = field(default_factory=lambda: MappingProxyType({}))
    state: RunState = field(default_factory=lambda: RunState({}))
    sealed: bool = True
    written: datetime | None = None
    signature: _Signature = ()

    def outcomes(self, environment: str) -> list[Outcome]:
        """Returns the outcomes of an environment, by match number."""
        own = (entry.glance for entry in self.entries.values() if entry.glance.match.environment == environment)
        return [glance.outcome for glance in own if glance.outcome is not None]


class Watched:
    """A run, which can be in progress, read-only.

    Thread-safe, except that ``moment`` and ``tables`` must each be called by one thread at a time.

    Args:
        directory: run directory.

    Attributes:
        directory: run directory.
        title: name of the run.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._latest: Moment | None = None
        self._seals: dict[str, str] = {}
        self._glances: dict[str, Glance] = {}
        self.title = encodable(printable(directory.resolve().name))
        self._tables = TablesOfRun(self.title)
        self._lock = threading.Lock()
        self._copy: tuple[Store, _Signature] | None = None
        self._changes = ("", 0)

    def moment(self) -> Moment:
        """Returns the recorded state. Without changes, it is the same object as before.

        Raises:
            RunError: if it cannot be read. A custom environment can raise other errors.
        """
        signature = (*self._signature(), self._stamp_of_server())
        if self._latest is None or signature != self._latest.signature:
            self._latest = self._read(signature)
        return self._latest

    def tables(self, moment: Moment) -> Tables:
        """Returns the tables of a moment. Leaderboards without new outcomes are reused. Raises the same errors as ``moment``."""
        with self._opened() as store:
            run = run_directory.read_run(self.directory, store)
            outcomes = {item.name: moment.outcomes(item.name) for item in run.config.environment}
            statuses = {entry.id: entry.status for entry in moment.entries.values()}
            return self._tables.make(run, outcomes, moment.state, statuses, store)

    def record(self, match: str) -> Record | None:
        """Returns the record of a match by id, or ``None`` if it does not exist."""
        with self._opened() as store:
            return store.record(match)

    def turn_settings(self, environment: str) -> TurnSettings:
        """Returns the turn settings of an environment, with the invalid-reply policy."""
        with self._opened() as store:
            return run_directory.read_run(self.directory, store).config.turn_settings(environment)

    def _signature(self) -> _Signature:
        """Returns a fingerprint of the files, which changes with every write."""
        return tuple(_stamp(self.directory / name) for name in _FILES)

    def _stamp_of_server(self) -> tuple[str, int] | None:
        """Returns the change counter of a PostgreSQL store and the time of its last observed change, or ``None`` without one."""
        if not (self.directory / location.SERVER).exists():
            return None
        with self._opened() as store:
            changes = store.changes() or ""
        if changes != self._changes[0]:
            self._changes = changes, time.time_ns()
        return self._changes

    @contextmanager
    def _opened(self) -> "Iterator[Store]":
        """Opens the store.

        After a killed process the store opens as a copy, which is reused until the files change.
        """
        signature = tuple(_stamp(self.directory / name) for name in _DATABASE_FILES)
        with self._lock:
            if self._copy is not None and self._copy[1] != signature:
                self._copy[0].close()
                self._copy = None
            if self._copy is None:
                store = run_directory.open_store(self.directory, read_only=True)
                if store.is_copy:
                    self._copy = store, signature
            if self._copy is not None:
                yield self._copy[0]
                return
        with closing(store):
            yield store

    def _read(self, signature: _Signature) -> Moment:
        with self._opened() as store:
            config = run_directory.read_run(self.directory, store).config
            state, turns = run_directory.read_state(store), store.turns_under_way()
            self._read_matches(store)
            order = {item.name: index for index, item in enumerate(config.environment)}
            entries = [Entry(match, glance, turns.get(match, glance.turns)) for match, glance in self._glances.items()]
            entries.sort(key=lambda entry: order.get(entry.glance.match.environment, len(order)))
            stamps = [stamp[1] for stamp in signature if stamp is not None]
            return Moment(
                {entry.id: entry for entry in entries},
                state,
                bool(store.sealed),
                datetime.fromtimestamp(max(stamps) / 1e9, UTC) if stamps else None,
                signature,
            )

    def _read_matches(self, store: "Store") -> None:
        """Reads the matches that changed since the last call."""
        seals, known = store.seals_of_matches(), self._glances
        self._glances = {}
        for match, seal in seals.items():
            old = known.get(match)
            if old is not None and self._seals.get(match) == seal:
                self._glances[match] = old
            elif (new := store.glance(match)) is not None:
                self._glances[match] = new
        self._seals = seals


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
