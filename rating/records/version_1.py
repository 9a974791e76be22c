"""Runs of schema version 1: how their tables become those of this version.

Version 1 kept one row a turn in plain JSON, and of the action only what the environment was given, not how it is written. Its
digest of a match covers agents, texts read, actions and rewards; tokens, wall times, failed tries and errors were covered by
nothing before the conversion, which seals everything as it found it. Verification compares that digest and the seals, plays the
match again and compares texts, what the replies lead to, and the outcome: which only comes out if the wording of the game is
still that of the run.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.records import Turn
from rating.errors import RunError
from rating.records.database import SCHEMA_VERSION, TABLES
from rating.records.record import Record, load_match, load_outcome, load_turn

_DIGEST_LENGTH = 16
"""Characters of a digest of version 1; later ones are longer."""


def set_aside(db: sqlite3.Connection) -> None:
    """Makes the tables of this version beside the old ones."""
    for table in ("match", "turn"):
        db.execute(f"ALTER TABLE {table} RENAME TO {table}_1")
    for name, table in TABLES.items():
        if name != "fact":
            db.execute(table)


def records(db: sqlite3.Connection) -> Iterator[Record]:
    """Yields what the tables set aside hold.

    Raises:
        RunError: if they are damaged.
    """
    rows = db.execute(
        "SELECT environment, number, policies, seed, options, status, outcome, digest, tries, error, id FROM match_1"
        " ORDER BY environment, number"
    )
    for environment, number, policies, seed, options, status, outcome, digest, tries, error, match_id in rows:
        match = load_match(environment, number, policies, seed, options)
        if match.id != match_id:
            raise RunError(f"match {match_id} is not what its id says")
        payloads = db.execute("SELECT payload FROM turn_1 WHERE match = ? ORDER BY number", (match_id,))
        turns = tuple(replace(load_turn(payload), digest="") for (payload,) in payloads)
        known = load_outcome(environment, number, seed, status, _seats(outcome))
        yield Record(match, known, turns, digest, tries, error)


def discard(db: sqlite3.Connection) -> None:
    """Drops the tables set aside."""
    db.execute("DROP TABLE turn_1")
    db.execute("DROP TABLE match_1")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


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
