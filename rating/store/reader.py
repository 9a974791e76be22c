"""Read access to the record of a run."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, select

from agents.records import Turn
from rating.errors import RunError
from rating.store.digest import JOURNAL, TRANSCRIPT, differences, link, stored_seal
from rating.store.engine import Database, Row
from rating.store.packing import unpack, unpack_lines
from rating.store.records import (
    BUG,
    FINAL,
    PLAYED,
    VOID,
    Damage,
    Glance,
    Match,
    Outcome,
    Record,
    load_match,
    load_outcome,
    load_record,
    load_turn,
)
from rating.store.schema import dictionary, fact, transcript, turn
from rating.store.schema import match as match_table

_columns = match_table.c
_ORDER = (_columns.environment, _columns.number)

_FACTS = select(fact).order_by(fact.c.name)

_RECORDS = select(match_table, transcript.c.turns).select_from(
    match_table.outerjoin(transcript, transcript.c.match == _columns.id)
)

_SUMMARY = (
    _columns.environment,
    _columns.number,
    _columns.seed,
    _columns.status,
    _columns.seats,
    _columns.policies,
    _columns.turns,
    _columns.error,
    _columns.tries,
)
_SUMMARIES = select(*_SUMMARY).order_by(*_ORDER)
_SUMMARY_OF_ONE = select(*_SUMMARY).where(_columns.id == bindparam("match"))

_COUNTS = select(_columns.environment, _columns.status, func.count()).group_by(_columns.environment, _columns.status)
_REASONS = (
    select(_columns.environment, _columns.status, _columns.error, func.count())
    .where(_columns.status.in_((VOID, BUG)))
    .group_by(_columns.environment, _columns.status, _columns.error)
    .order_by(_columns.environment, _columns.status, _columns.error)
)
_PLAYED = select(_columns.id, _columns.digest, _columns.seats).where(_columns.status.in_(PLAYED)).order_by(*_ORDER)
_TURNS_IN_PROGRESS = (
    select(turn.c.match, func.count())
    .join(match_table, _columns.id == turn.c.match)
    .where(_columns.status.not_in(FINAL))
    .group_by(turn.c.match)
)
_DICTIONARY = select(dictionary.c.data).where(dictionary.c.environment == bindparam("environment"))


class Reader:
    """Read-only access to the record of a run.

    Args:
        db: database of the run.

    Attributes:
        name: name of the database in messages.
        is_copy: whether reads use a copy without later writes, e.g. after the writing process was killed.
    """

    def __init__(self, db: Database) -> None:
        self.name = db.name
        self.is_copy = db.is_copy
        self._db = db
        self._dictionaries: dict[str, bytes] = {}

    def changes(self) -> str | None:
        """Returns a text that changes with each write, or ``None`` if the files of the run show changes."""
        return self._db.changes()

    def facts(self) -> dict[str, str]:
        """Returns every fact by name.

        Raises:
            RunError: if a name or value is not a string.
        """
        facts: dict[str, str] = self._db.pairs(_FACTS)
        for name, value in facts.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise RunError(f"{self.name}: the record of a run is damaged: expected texts as facts, got {name!r}")
        return facts

    def turns(self, match: Match) -> tuple[Turn, ...]:
        """Returns the turns of a match so far."""
        return tuple(map(load_turn, self._lines(match.id, match.environment, self._transcript(match))))

    def outcome(self, match: Match) -> Outcome | None:
        """Returns the outcome of a match, or ``None`` if it is unknown or unfinished."""
        found = self.glance(match.id)
        return None if found is None else found.outcome

    def outcomes(self) -> Iterator[Outcome]:
        """Yields every outcome, including void ones, by environment and number."""
        return (outcome for _, outcome in self.matches() if outcome is not None)

    def matches(self) -> Iterator[tuple[Match, Outcome | None]]:
        """Yields every match, without its options, and its outcome, by environment and number, from one snapshot.

        The outcome is ``None`` while the match is in progress.
        """
        for row in self._db.rows(_SUMMARIES):
            found = _glance(row)
            yield found.match, found.outcome

    def identities(self, environment: str) -> Iterator[tuple[str, Match]]:
        """Yields id and match, without its options, of every match of an environment, by number."""
        columns = (_columns.id, _columns.environment, _columns.number, _columns.policies, _columns.seed)
        query = select(*columns).where(_columns.environment == environment).order_by(_columns.number)
        for identity, name, number, policies, seed in self._db.rows(query):
            yield identity, load_match(name, number, policies, seed, "{}")

    def seals_of_matches(self) -> dict[str, str]:
        """Returns id -> seal of every match, by environment and number; a seal changes when an attempt ends."""
        return self._db.pairs(select(_columns.id, _columns.seal).order_by(*_ORDER))

    def turns_under_way(self) -> dict[str, int]:
        """Returns id -> number of turns so far, for each match in progress."""
        return self._db.pairs(_TURNS_IN_PROGRESS)

    def glance(self, match_id: str) -> Glance | None:
        """Returns the summary of a match, or ``None`` if the id is unknown."""
        row = self._db.row(_SUMMARY_OF_ONE, {"match": match_id})
        return None if row is None else _glance(row)

    def record(self, match_id: str) -> Record | None:
        """Returns the record of a match, or ``None`` if the id is unknown."""
        row = self._db.row(_RECORDS.where(_columns.id == match_id))
        return None if row is None else self._record(row)

    def records(self, match_id: str = "") -> Iterator[Record]:
        """Yields the record of every match whose id starts with ``match_id``, by environment and number."""
        query = _RECORDS.where(func.substr(_columns.id, 1, len(match_id)) == match_id).order_by(*_ORDER)
        return (self._record(row) for row in self._db.rows(query))

    def records_as_far_as_possible(self) -> Iterator[Record | Damage]:
        """Yields the records of all matches like ``records``, and a ``Damage`` for each damaged one."""
        key: ColumnElement[Any] = self._db.row_key
        for (found,) in self._db.rows(select(key).select_from(match_table).order_by(*_ORDER)):
            where = f"match in row {found}"
            try:  # separate queries: one damaged row does not affect the others
                (row,) = self._db.all(_RECORDS.where(key == found))
                where = f"match {row[0]} ({row[1]} {row[2]})"
                record = self._record(row)
            except (RunError, ValueError) as error:
                yield Damage(where, str(error))
            else:
                yield record

    def _record(self, row: Row) -> Record:
        match_id, environment, number, policies, seed, options, status, tries, _, seats, digest, error, _, packed = row
        match = load_match(environment, number, policies, seed, options)
        outcome = load_outcome(environment, number, seed, status, seats, len(match.policies))
        turns = tuple(map(load_turn, self._lines(match_id, environment, packed)))
        return load_record(match, outcome, turns, digest, tries, error)

    def counts(self) -> Counter[tuple[str, str]]:
        """Returns the number of matches by environment and status; not cached, since other processes can write."""
        return Counter({(environment, status): count for environment, status, count in self._db.all(_COUNTS)})

    def sizes(self) -> dict[str, int]:
        """Returns the number of matches of each environment."""
        totals: Counter[str] = Counter()
        for (environment, _), count in self.counts().items():
            totals[environment] += count
        return dict(totals)

    def statuses(self) -> dict[str, int]:
        """Returns the number of matches with each status."""
        totals: Counter[str] = Counter()
        for (_, status), count in self.counts().items():
            totals[status] += count
        return dict(totals)

    def status_of_matches(self) -> dict[str, str]:
        """Returns the status of every match by its id."""
        return self._db.pairs(select(_columns.id, _columns.status))

    def seatings(self, environment: str) -> list[tuple[str, ...]]:
        """Returns the policies on the seats of the matches of an environment, by number, up to the first missing number.

        Raises:
            RunError: if the record is damaged.
        """
        found: list[tuple[str, ...]] = []
        for _, match in self.identities(environment):
            if match.number != len(found):
                break
            found.append(match.policies)
        return found

    def reasons(self) -> list[tuple[str, str, str, int]]:
        """Returns environment, status, reason and number of matches without a result, in a fixed order.

        Raises:
            RunError: if a value is not a string.
        """
        rows = self._db.all(_REASONS)
        for environment, status, error, _ in rows:
            if not all(isinstance(value, str) for value in (environment, status, error)):
                raise RunError(f"{self.name}: the record of a run is damaged: expected texts, got {error!r:.80}")
        return [(environment, status, error, count) for environment, status, error, count in rows]

    def digest(self) -> str:
        """Returns the digest of the run, which is the same for every run with the same replies.

        It covers the digest and the outcome of every match played to the end, by environment and number.
        """
        chain = ""
        for identity, digest, seats in self._db.rows(_PLAYED):
            chain = link(chain, identity, digest, seats)
        return chain

    @property
    def sealed(self) -> str:
        """The seal of the run, or an empty string if it is in progress or was killed."""
        return stored_seal(self._db)

    def check(self) -> list[str]:
        """Returns every difference between the database and the record, with its location."""
        return list(differences(self._db))

    def _transcript(self, match: Match) -> bytes | None:
        """Returns the packed turns of a match, or ``None`` if it is in progress."""
        row = self._db.row(TRANSCRIPT, {"match": match.id})
        return row[0] if row else None

    def _lines(self, match_id: str, environment: str, packed: bytes | None) -> list[str]:
        """Returns the serialized turns of a match, from its transcript or else from its journal."""
        if packed is not None:
            return unpack_lines(packed, self._dictionary(environment))
        return [payload for _, payload, _ in self._db.all(JOURNAL, {"match": match_id})]

    def _dictionary(self, environment: str) -> bytes:
        known = self._dictionaries.get(environment)
        if known is None:
            row = self._db.row(_DICTIONARY, {"environment": environment})
            known = unpack(row[0]) if row else b""
            if known:
                self._dictionaries[environment] = known
        return known


def _glance(row: Row) -> Glance:
    environment, number, seed, status, seats, policies, turns, error, tries = row
    match = load_match(environment, number, policies, seed, "{}")
    outcome = load_outcome(environment, number, seed, status, seats, len(match.policies))
    return Glance(match, outcome, turns, error, tries)
