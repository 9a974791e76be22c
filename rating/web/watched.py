"""What is recorded of a run, or was imported, as somebody who watches sees it: each match read once."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from rating.imports.source import ImportSource
from rating.records.calls import CALLS
from rating.records.imported import MANIFEST, is_import
from rating.records.outcome import BUG, FINISHED, UNDECIDED, VOID, Outcome
from rating.records.record import Record
from rating.records.recorded import Glance
from rating.records.store import Store
from rating.running import places, run_directory
from rating.web.tables import Tables, TablesOfRun, tables_of_source

WAITING = "waiting"
UNDER_WAY = "under way"
STATUSES = (UNDER_WAY, WAITING, FINISHED, UNDECIDED, VOID, BUG)
"""What a match can be, in the order in which it is told."""

_DATABASE_FILES = (places.SERVER, places.DATABASE, f"{places.DATABASE}-wal")
_FILES = (*_DATABASE_FILES, run_directory.RUN_FILE, CALLS, MANIFEST)
"""What is written while a run is played."""

_Signature = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class Entry:
    """A match in the list of all.

    Attributes:
        id: of the match.
        glance: what is known of it.
        turns: played so far.
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
    """What was recorded at one moment.

    Attributes:
        entries: every match by its id, in the order of the environments of the run file and by number.
        facts: of the store.
        sealed: whether nobody plays: the run has ended, or was stopped in good order.
        written: when something was written last.
        signature: of the files that were read.
    """

    entries: Mapping[str, Entry] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sealed: bool = True
    written: datetime | None = None
    signature: _Signature = ()

    def outcomes(self, environment: str) -> list[Outcome]:
        """Returns what the matches of an environment came to, by number."""
        own = (entry.glance for entry in self.entries.values() if entry.glance.match.environment == environment)
        return [glance.outcome for glance in own if glance.outcome is not None]


class Watched(ABC):
    """A directory that is shown; nothing in it is changed.

    Several threads may use it, but ``moment`` and ``tables`` are each called by one at a time.

    Args:
        directory: of a run or an import.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @abstractmethod
    def moment(self) -> Moment:
        """Returns what is recorded: the same object as before if nothing has changed.

        Raises:
            RunError: if it cannot be read; other errors if somebody's own environment fails.
        """

    @abstractmethod
    def tables(self, moment: Moment) -> Tables:
        """Returns the tables of a moment; errors are those of ``moment``."""

    @abstractmethod
    def record(self, match: str) -> Record | None:
        """Returns the record of a match by its id, or ``None`` if there is none."""

    def _signature(self) -> _Signature:
        """Returns what is different as soon as something has been written."""
        return tuple(_stamp(self.directory / name) for name in _FILES)


class WatchedRun(Watched):
    """A run, which somebody may be playing."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._latest: Moment | None = None
        self._seals: dict[str, str] = {}
        self._glances: dict[str, Glance] = {}
        self._tables = TablesOfRun()
        self._lock = threading.Lock()
        self._copy: tuple[Store, _Signature] | None = None
        self._changes = (0, 0)

    def moment(self) -> Moment:
        """Returns what is recorded of the run."""
        signature = (*self._signature(), self._stamp_of_server())
        if self._latest is None or signature != self._latest.signature:
            self._latest = self._read(signature)
        return self._latest

    def tables(self, moment: Moment) -> Tables:
        """Returns the tables of the run; those of environments in which nothing has ended since are not made again."""
        with self._opened() as store:
            config = run_directory.read_config(self.directory, store)
            outcomes = {item.name: moment.outcomes(item.name) for item in config.environment}
            statuses = {entry.id: entry.status for entry in moment.entries.values()}
            return self._tables.make(config, outcomes, moment.facts, statuses, store.calls())

    def record(self, match: str) -> Record | None:
        """Returns the record of a match."""
        with self._opened() as store:
            return store.record(match)

    def _stamp_of_server(self) -> tuple[int, ...] | None:
        """Returns what is different soon after something has been written on a server, with the time at which that was seen."""
        if not (self.directory / places.SERVER).exists():
            return None
        with self._opened() as store:
            changes = store.changes() or 0
        if changes != self._changes[0]:
            self._changes = changes, time.time_ns()
        return self._changes

    @contextmanager
    def _opened(self) -> Iterator[Store]:
        """Opens the store; a copy, as of what a killed process left, is kept as long as the file is the same."""
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
            config = run_directory.read_config(self.directory, store)
            facts, turns = store.facts(), store.turns_under_way()
            self._read_matches(store)
            order = {item.name: index for index, item in enumerate(config.environment)}
            entries = [Entry(match, glance, turns.get(match, glance.turns)) for match, glance in self._glances.items()]
            entries.sort(key=lambda entry: order.get(entry.glance.match.environment, len(order)))
            stamps = [stamp[1] for stamp in signature if stamp is not None]
            return Moment(
                {entry.id: entry for entry in entries},
                facts,
                bool(store.sealed),
                datetime.fromtimestamp(max(stamps) / 1e9, UTC) if stamps else None,
                signature,
            )

    def _read_matches(self, store: Store) -> None:
        """Reads those matches that were not read as they are now."""
        seals, known = store.seals_of_matches(), self._glances
        self._glances = {}
        for match, seal in seals.items():
            old = known.get(match)
            if old is not None and self._seals.get(match) == seal:
                self._glances[match] = old
            elif (new := store.glance(match)) is not None:
                self._glances[match] = new
        self._seals = seals


class WatchedImport(Watched):
    """An import, which does not change: there are tables and no matches."""

    def moment(self) -> Moment:
        """Returns that there are no matches."""
        return Moment(signature=self._signature())

    def tables(self, moment: Moment) -> Tables:
        """Returns the tables of the import."""
        return tables_of_source(ImportSource(self.directory))

    def record(self, match: str) -> Record | None:
        """Returns ``None``."""
        return None


def watch(directory: Path) -> Watched:
    """Returns what is shown of a directory."""
    return WatchedImport(directory) if is_import(directory) else WatchedRun(directory)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
