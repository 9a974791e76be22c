"""The store of a run: the log that everything else is computed from."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from agents.records import Turn, encodable
from rating.errors import RunError
from rating.records import audit, database, seal, version_1
from rating.records.match import Match
from rating.records.outcome import PLAYED, VOID, Outcome
from rating.records.packing import make_dictionary, pack, pack_lines, unpack, unpack_lines
from rating.records.record import (
    UNFINISHED,
    Record,
    dump_seats,
    dump_turn,
    load_match,
    load_outcome,
    load_record,
    load_turn,
)

_RECORDS = "SELECT environment, number, policies, seed, options, status, seats, digest, tries, error, id FROM match"


class _Journal(NamedTuple):
    """How far a match that is under way has been recorded."""

    turns: int
    seal: str


class Glance(NamedTuple):
    """What is known of a match without what was said in it.

    Attributes:
        match: without its options.
        outcome: what it came to, or ``None`` while it is unfinished.
        turns: that it took, once it has ended.
        error: why it is void, or an empty string.
    """

    match: Match
    outcome: Outcome | None
    turns: int
    error: str


class Damage(NamedTuple):
    """What cannot be read of a run.

    Attributes:
        where: which match.
        error: what is wrong with it.
    """

    where: str
    error: str


class Store:
    """A run's database. Every write is a transaction of its own: what was written survives ``kill -9``.

    A run of an older schema version is converted when it is opened, where nothing may be written in a copy that is gone
    afterwards. A run can be read where nothing may be written, e.g. in an archive, also one that was killed.

    Args:
        path: the file.
        create: whether to make a new one; otherwise it must exist.
        read_only: whether it is only looked at, beside somebody who writes: nothing is written then, not even a conversion.

    Raises:
        RunError: if the file exists and should not, does not exist and should, is no database of this suite, is damaged, or
            was written by a newer version. It is left as it is.
    """

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False) -> None:
        self.path = path
        self._sealed = not create
        self._journals: dict[str, _Journal] = {}
        self._dictionaries: dict[str, bytes] = {}
        opened = database.create if create else database.open_to_read if read_only else database.open_existing
        self._db = opened(path)
        if database.schema_version(self._db) < database.SCHEMA_VERSION:
            try:
                self._convert()
            except (sqlite3.Error, RunError) as error:
                self._db.close()
                raise RunError(
                    f"{path}: the run cannot be converted to this version; it is as it was: {error}"
                ) from error

    def close(self) -> None:
        """Closes the file, sealed if something was written."""
        try:
            if not self._sealed:
                self.seal()
        finally:
            self._db.close()

    @property
    def is_copy(self) -> bool:
        """Whether the run is read out of a copy, as where it had to be converted: later writes are not in it."""
        return database.is_copy(self._db)

    def set_fact(self, name: str, value: str) -> None:
        """Keeps a fact about the run, e.g. versions or which stop rule fired."""
        if self._db.execute("SELECT 1 FROM fact WHERE name = ? AND value = ?", (name, value)).fetchone():
            return
        with self._writing():
            self._db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))

    def facts(self) -> dict[str, str]:
        """Returns every fact by name.

        Raises:
            RunError: if one is no text.
        """
        facts = dict(self._db.execute("SELECT name, value FROM fact ORDER BY name"))
        for name, value in facts.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise RunError(f"{self.path}: the record of a run is damaged: expected texts as facts, got {name!r}")
        return facts

    def add_match(self, match: Match) -> None:
        """Enters a match to be played; one that is known already is left alone.

        Raises:
            RunError: if another match has its number: the run file has been changed.
        """
        if self._db.execute("SELECT 1 FROM match WHERE id = ?", (match.id,)).fetchone():
            return
        identity = _identity(match)
        state = (UNFINISHED, 0, 0, "", "", "")
        sealed = seal.of_match(seal.of_identity(*identity), *state, b"")
        counts = self._counts
        try:
            with self._writing():
                self._db.execute(
                    "INSERT INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*identity, *state, sealed)
                )
        except sqlite3.IntegrityError as error:
            raise RunError(
                f"{self.path}: match {match.number} of {match.environment} was recorded with another seed, other policies"
                " or other options: the run file has been changed since; put it back, or begin a new run"
            ) from error
        counts[match.environment, UNFINISHED] += 1

    def add_turn(self, match: Match, turn: Turn) -> None:
        """Enters a turn; when this returns it is safe."""
        journal, payload = self._journal(match), dump_turn(turn)
        sealed = seal.link(journal.seal, payload)
        with self._writing():
            self._db.execute("INSERT INTO turn VALUES (?, ?, ?, ?)", (match.id, turn.index, payload, sealed))
        self._journals[match.id] = _Journal(journal.turns + 1, sealed)

    def finish(self, match: Match, outcome: Outcome, *, digest: str = "", error: str = "", is_try: bool = True) -> None:
        """Enters what a try of a match came to; after any end but a void one the match is complete.

        Args:
            match: the match.
            outcome: its outcome.
            digest: of what was played.
            error: why it is void.
            is_try: whether it was begun at all.
        """
        (tries,) = self._db.execute("SELECT tries FROM match WHERE id = ?", (match.id,)).fetchone()
        self._finish(match, outcome, tries + is_try, digest, error)

    def turns(self, match: Match) -> tuple[Turn, ...]:
        """Returns the turns of a match so far."""
        return tuple(map(load_turn, self._lines(match.id, match.environment)))

    def outcome(self, match: Match) -> Outcome | None:
        """Returns what a match came to, or ``None`` if it is unknown or unfinished."""
        row = self._db.execute("SELECT status, seats FROM match WHERE id = ?", (match.id,)).fetchone()
        if row is None:
            return None
        status, seats = row
        return load_outcome(match.environment, match.number, str(match.seed), status, seats, len(match.policies))

    def outcomes(self) -> Iterator[Outcome]:
        """Yields every outcome, void ones included, by environment and number."""
        return (outcome for _, outcome in self.matches() if outcome is not None)

    def matches(self) -> Iterator[tuple[Match, Outcome | None]]:
        """Yields every match entered, without its options, with what it came to, by environment and number: all as of one moment.

        The outcome is ``None`` while the match is under way.
        """
        rows = self._db.execute(
            "SELECT environment, number, seed, status, seats, policies FROM match ORDER BY environment, number"
        )
        for environment, number, seed, status, seats, policies in rows:
            match = load_match(environment, number, policies, seed, "{}")
            yield match, load_outcome(environment, number, seed, status, seats, len(match.policies))

    def identities(self, environment: str) -> Iterator[tuple[str, Match]]:
        """Yields id and match, its options left out, of every match of an environment, by number."""
        rows = self._db.execute(
            "SELECT id, environment, number, policies, seed FROM match WHERE environment = ? ORDER BY number",
            (environment,),
        )
        for identity, name, number, policies, seed in rows:
            yield identity, load_match(name, number, policies, seed, "{}")

    def seals_of_matches(self) -> dict[str, str]:
        """Returns the seal of every match by its id, by environment and number: another one as soon as a try of it has ended."""
        return dict(self._db.execute("SELECT id, seal FROM match ORDER BY environment, number"))

    def turns_under_way(self) -> dict[str, int]:
        """Returns the number of turns so far of each match that has begun and not ended, by its id."""
        return dict(self._db.execute("SELECT match, count(*) FROM turn GROUP BY match"))

    def glance(self, match_id: str) -> Glance | None:
        """Returns a match without its options and its turns, or ``None`` if there is none with this id."""
        row = self._db.execute(
            "SELECT environment, number, seed, status, seats, policies, turns, error FROM match WHERE id = ?",
            (match_id,),
        ).fetchone()
        if row is None:
            return None
        environment, number, seed, status, seats, policies, turns, error = row
        match = load_match(environment, number, policies, seed, "{}")
        outcome = load_outcome(environment, number, seed, status, seats, len(match.policies))
        return Glance(match, outcome, turns, error)

    def record(self, match_id: str) -> Record | None:
        """Returns the record of a match, or ``None`` if there is none with this id."""
        row = self._db.execute(f"{_RECORDS} WHERE id = ?", (match_id,)).fetchone()
        return None if row is None else self._record(row)

    def records(self, match_id: str = "") -> Iterator[Record]:
        """Yields the record of every match, or of those whose id begins with ``match_id``, by environment and number."""
        return (self._record(row) for row in self._record_rows(match_id))

    def records_as_far_as_possible(self) -> Iterator[Record | Damage]:
        """Yields the record of every match like ``records``, or what is wrong with it if it is damaged."""
        for (place,) in self._db.execute("SELECT rowid FROM match ORDER BY environment, number"):
            where = f"match in row {place}"
            try:  # row by row: of one that cannot be read at all the others are none the worse
                (row,) = self._db.execute(f"{_RECORDS} WHERE rowid = ?", (place,))
                where = f"match {row[-1]} ({row[0]} {row[1]})"
                record = self._record(row)
            except (RunError, sqlite3.DatabaseError, ValueError) as error:
                yield Damage(where, str(error))
            else:
                yield record

    def _record_rows(self, match_id: str) -> Iterator[tuple[Any, ...]]:
        return self._db.execute(
            f"{_RECORDS} WHERE substr(id, 1, ?) = ? ORDER BY environment, number", (len(match_id), match_id)
        )

    def _record(self, row: tuple[Any, ...]) -> Record:
        environment, number, policies, seed, options, status, seats, digest, tries, error, full_id = row
        match = load_match(environment, number, policies, seed, options)
        outcome = load_outcome(environment, number, seed, status, seats, len(match.policies))
        turns = tuple(map(load_turn, self._lines(full_id, environment)))
        return load_record(match, outcome, turns, digest, tries, error)

    def count(self, status: str, environment: str) -> int:
        """Returns the number of matches of an environment with a status."""
        return self._counts[environment, status]

    def sizes(self) -> dict[str, int]:
        """Returns the number of matches of each environment."""
        totals: Counter[str] = Counter()
        for (environment, _), count in self._counts.items():
            totals[environment] += count
        return dict(totals)

    def seatings(self, environment: str) -> list[tuple[str, ...]]:
        """Returns the policies on the seats of the matches of an environment, by number, as far as no number is missing.

        Raises:
            RunError: if the record is damaged.
        """
        found: list[tuple[str, ...]] = []
        for _, match in self.identities(environment):
            if match.number != len(found):
                break
            found.append(match.policies)
        return found

    def statuses(self) -> dict[str, int]:
        """Returns the number of matches with each status."""
        totals: Counter[str] = Counter()
        for (_, status), count in self._counts.items():
            totals[status] += count
        return dict(+totals)

    def status_of_matches(self) -> dict[str, str]:
        """Returns the status of every match by its id."""
        return dict(self._db.execute("SELECT id, status FROM match"))

    def digest(self) -> str:
        """Returns the digest of what was played: anybody who plays the run with the same replies gets the same.

        It covers the digest and the outcome of every match played to its end, by environment and number.
        """
        rows = self._db.execute(
            "SELECT id, digest, seats FROM match WHERE status IN (?, ?) ORDER BY environment, number", PLAYED
        )
        chain = ""
        for row in rows:
            chain = seal.link(chain, *row)
        return chain

    def seal(self) -> str:
        """Seals the run and returns its seal, which covers everything recorded; linear in the number of matches.

        The next write breaks the seal. A run that was killed has none until it has been resumed.
        """
        if self._sealed and (known := self.sealed):
            return known
        parts = audit.seal_contents(self._db)
        head = seal.head(parts)
        with self._writing():
            self._db.execute("INSERT INTO fact VALUES (?, ?)", (audit.SEAL, audit.dump_seal(head, parts)))
        self._sealed = True
        return head

    @property
    def sealed(self) -> str:
        """The seal of the run, or an empty string if it is under way or was killed."""
        return audit.stored_head(self._db)

    def check(self) -> list[str]:
        """Returns everything in the database that is not as it was recorded, each with where it stands."""
        return list(audit.differences(self._db))

    @cached_property
    def _counts(self) -> Counter[tuple[str, str]]:
        rows = self._db.execute("SELECT environment, status, count(*) FROM match GROUP BY environment, status")
        return Counter({(environment, status): count for environment, status, count in rows})

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Makes one transaction of what is written within, which breaks the seal of the run."""
        if self._db.in_transaction:
            yield
            return
        with self._transaction():
            if self._sealed:
                self._db.execute("DELETE FROM fact WHERE name = ?", (audit.SEAL,))
            yield
        self._sealed = False

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite ends it itself if the disk is full
                self._db.execute("ROLLBACK")
            self._dictionaries.clear()
            raise

    def _finish(self, match: Match, outcome: Outcome, tries: int, digest: str, error: str) -> None:
        journal, counts = self._journal(match), self._counts
        (before,) = self._db.execute("SELECT status FROM match WHERE id = ?", (match.id,)).fetchone()
        state = (outcome.status, tries, journal.turns, dump_seats(outcome.seats), digest, encodable(error))
        with self._writing():
            transcript = b"" if outcome.status == VOID else self._pack(match)
            self._db.execute(
                "UPDATE match SET status = ?, tries = ?, turns = ?, seats = ?, digest = ?, error = ?, seal = ? WHERE id = ?",
                (*state, seal.of_match(journal.seal, *state, transcript), match.id),
            )
        del self._journals[match.id]
        counts[match.environment, before] -= 1
        counts[match.environment, outcome.status] += 1

    def _journal(self, match: Match) -> _Journal:
        """Returns how far a match has been recorded; only the first time that it is asked for it is read."""
        known = self._journals.get(match.id)
        if known is None:
            row = self._db.execute(
                "SELECT number + 1, seal FROM turn WHERE match = ? ORDER BY number DESC LIMIT 1", (match.id,)
            ).fetchone()
            known = _Journal(*row) if row else _Journal(0, seal.of_identity(*_identity(match)))
            self._journals[match.id] = known
        return known

    def _lines(self, match_id: str, environment: str) -> Iterator[str]:
        """Yields the turns of a match as they were written."""
        row = self._db.execute("SELECT turns FROM transcript WHERE match = ?", (match_id,)).fetchone()
        if row:
            yield from unpack_lines(row[0], self._dictionary(environment))
        for (payload,) in self._db.execute("SELECT payload FROM turn WHERE match = ? ORDER BY number", (match_id,)):
            yield payload

    def _pack(self, match: Match) -> bytes:
        """Moves the journal of a match into its transcript, which is returned."""
        lines = list(self._lines(match.id, match.environment))
        if not lines:
            return b""
        dictionary = self._dictionary(match.environment)
        if not dictionary:
            dictionary = self._dictionaries[match.environment] = make_dictionary(lines)
            self._db.execute("INSERT INTO dictionary VALUES (?, ?)", (match.environment, pack(dictionary)))
        transcript = pack_lines(lines, dictionary)
        self._db.execute("INSERT INTO transcript VALUES (?, ?)", (match.id, transcript))
        self._db.execute("DELETE FROM turn WHERE match = ?", (match.id,))
        return transcript

    def _dictionary(self, environment: str) -> bytes:
        known = self._dictionaries.get(environment)
        if known is None:
            row = self._db.execute("SELECT data FROM dictionary WHERE environment = ?", (environment,)).fetchone()
            known = unpack(row[0]) if row else b""
            if known:
                self._dictionaries[environment] = known
        return known

    def _convert(self) -> None:
        """Converts a run of schema version 1."""
        with self._transaction():
            if database.schema_version(self._db) == database.SCHEMA_VERSION:
                return  # another process was faster
            version_1.set_aside(self._db)
            for record in version_1.records(self._db):
                self.add_match(record.match)
                for turn in record.turns:
                    self.add_turn(record.match, turn)
                if record.outcome is not None:
                    self._finish(record.match, record.outcome, record.tries, record.digest, record.error)
            version_1.discard(self._db)
            self.set_fact("converted", "from schema version 1")
            self._sealed = False
            self.seal()
        with suppress(sqlite3.OperationalError):  # no room, or somebody reads it: then it stays as large as it was
            self._db.execute("VACUUM")


def _identity(match: Match) -> tuple[str, str, int, str, str, str]:
    """Returns the columns of a match that say what was to be played."""
    policies, options = json.dumps(match.policies), json.dumps(match.options, sort_keys=True)
    return match.id, match.environment, match.number, policies, str(match.seed), options


def fact_table(name: str, facts: Mapping[str, str]) -> dict[str, Any]:
    """Returns what a fact of a run holds by name; nothing if there is none.

    Args:
        name: of the fact.
        facts: of the run's store.

    Raises:
        RunError: if it is something else.
    """
    text = facts.get(name, "{}")
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise RunError(
            f"the record of a run is damaged: expected a table as fact {name!r}, got {text[:80]!r}"
        ) from error
