"""Runs of schema version 1: how their tables become those of this version.

Version 1 kept one row a turn in plain JSON, and of the action only what the environment was given, not how it is written. Its
digest of a match covers agents, texts read, actions and rewards; tokens, wall times, failed tries and errors were covered by
nothing before the conversion, which seals everything as it found it. Verification compares that digest and the seals, plays the
match again and compares texts, what the replies lead to, and the outcome: which only comes out if the wording of the game is
still that of the run.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.records import Turn
from rating.errors import RunError
from rating.records.calls import CALLS, CallFile
from rating.records.record import Record, load_match, load_outcome, load_turn
from rating.records.sqlite import SCHEMA_VERSION, TABLES, Sqlite
from rating.records.store import Store

_DIGEST_LENGTH = 16
"""Characters of a digest of version 1; later ones are longer."""


def convert(db: Sqlite) -> None:
    """Converts a run of schema version 1; one of this version is left alone.

    Raises:
        RunError: if it cannot be; it is as it was then.
    """
    if db.version() == SCHEMA_VERSION:
        return
    try:
        with db.transaction():
            if db.version() == SCHEMA_VERSION:
                return  # another process was faster
            _convert(db)
    except RunError as error:
        raise RunError(f"{db.name}: the run cannot be converted to this version; it is as it was: {error}") from error
    db.shrink()


def _convert(db: Sqlite) -> None:
    for table in ("match", "turn"):  # set aside, and dropped in the end
        db.execute(f"ALTER TABLE {table} RENAME TO {table}_1")
    for name, table in TABLES.items():
        if name != "fact":
            db.execute(table)
    store = Store(db, CallFile(db.path.with_name(CALLS)))
    for record in _records(db):
        store.enter(record)
    db.execute("DROP TABLE turn_1")
    db.execute("DROP TABLE match_1")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    store.set_fact("converted", "from schema version 1")
    store.seal()


def _records(db: Sqlite) -> Iterator[Record]:
    """Yields what the tables set aside hold.

    Raises:
        RunError: if they are damaged.
    """
    rows = db.rows(
        "SELECT environment, number, policies, seed, options, status, outcome, digest, tries, error, id FROM match_1"
        " ORDER BY environment, number"
    )
    for environment, number, policies, seed, options, status, outcome, digest, tries, error, match_id in rows:
        match = load_match(environment, number, policies, seed, options)
        if match.id != match_id:
            raise RunError(f"match {match_id} is not what its id says")
        payloads = db.rows("SELECT payload FROM turn_1 WHERE match = ? ORDER BY number", match_id)
        turns = tuple(replace(load_turn(payload), digest="") for (payload,) in payloads)
        known = load_outcome(environment, number, seed, status, _seats(outcome))
        yield Record(match, known, turns, digest, tries, error)


def played(record: Record) -> bool:
    """Says whether a finished match was recorded by version 1."""
    return len(record.digest) == _DIGEST_LENGTH


def digest_of(turns: Sequence[Turn]) -> str:
    """Returns the digest that version 1 would have given a match."""
    digest = ""
    for turn in turns:
        entry = json.dumps([digest, turn.agent, turn.read, turn.action, turn.rewards], sort_keys=True)
        digest = hashlib.blake2b(entry.encode(), digest_size=_DIGEST_LENGTH // 2).hexdigest()
    return digest


def _seats(outcome: str) -> str:
    try:
        return json.dumps(json.loads(outcome)["seats"]) if outcome else ""
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RunError(
            f"the record of a run is damaged: expected an outcome, got {outcome[:80]!r} ({error})"
        ) from error
