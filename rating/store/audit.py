"""Audit of a run: finds every difference between its database and its seals."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import bindparam, func, select

from rating.errors import RunError, StoreError
from rating.store import seal
from rating.store.engine import Database, Row
from rating.store.outcome import FINAL
from rating.store.packing import unpack, unpack_lines
from rating.store.schema import dictionary, fact, match, transcript, turn

SEAL = "seal"
"""Name of the fact with the seal of a run, as ``head``, and the parts of the seal."""

UNSEALED = "the run is not sealed: it is under way or was killed (resume seals it), or its seal was taken away"
"""Reported for a run without a seal."""

_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""Errors raised by reading damaged values."""


_SEAL = select(fact.c.value).where(fact.c.name == SEAL)
_OTHER_FACTS = select(fact.c.name, fact.c.value).where(fact.c.name != SEAL)
_DICTIONARIES = select(dictionary.c.environment, dictionary.c.data)
_MATCHES = select(match).order_by(match.c.environment, match.c.number)
_SEALS = select(match.c.environment, match.c.seal, match.c.id).order_by(match.c.environment, match.c.number)
_other = turn.alias("other")
_LAST_TURNS = select(turn.c.match, turn.c.seal).where(
    turn.c.number == select(func.max(_other.c.number)).where(_other.c.match == turn.c.match).scalar_subquery()
)
_TRANSCRIPT = select(transcript.c.turns).where(transcript.c.match == bindparam("match"))
_JOURNAL = (
    select(turn.c.number, turn.c.payload, turn.c.seal).where(turn.c.match == bindparam("match")).order_by(turn.c.number)
)


def seal_contents(db: Database) -> dict[str, Any]:
    """Returns the parts of the seal from the current database; see ``seal.contents``."""
    facts = db.pairs(_OTHER_FACTS)
    dictionaries = db.pairs(_DICTIONARIES)
    journals = db.pairs(_LAST_TURNS)
    entries = (
        seal.Entry(environment, sealed, journals.get(match, "")) for environment, sealed, match in db.rows(_SEALS)
    )
    return seal.contents(facts, dictionaries, entries)


def stored_head(db: Database) -> str:
    """Returns the seal of the run, or an empty string if it has none."""
    row = db.row(_SEAL)
    try:
        return str(json.loads(row[0])["head"]) if row else ""
    except _UNREADABLE as error:
        raise RunError(f"the record of a run is damaged: expected a seal, got {str(row)[:80]}") from error


def dump_seal(head: str, parts: Mapping[str, Any]) -> str:
    """Returns the value of the fact ``SEAL``."""
    return json.dumps({"head": head, **parts}, sort_keys=True)


def differences(db: Database) -> Iterator[str]:
    """Yields every difference with its location; linear in the size of the database."""
    try:
        yield from db.flaws()
        yield from _match_differences(db)
        for table in (turn, transcript):
            orphans = select(table.c.match).distinct().where(table.c.match.not_in(select(match.c.id)))
            for (identity,) in db.rows(orphans):
                yield f"table {table.name}: what it holds of match {identity!r} belongs to no match of the run"
        yield from _seal_differences(db)
    except (StoreError, *_UNREADABLE) as error:
        yield f"the database cannot be read any further: {error}"


def _match_differences(db: Database) -> Iterator[str]:
    dictionaries: dict[str, bytes] = {}
    for environment, data in db.rows(_DICTIONARIES):
        try:
            dictionaries[environment] = unpack(data)
        except RunError as error:
            yield f"dictionary of {environment}: {error}"
    expected: dict[str, int] = {}
    for row in db.rows(_MATCHES):
        identity, environment, number = row[:3]
        if number != expected.get(environment, 0):
            yield f"{environment}: expected match {expected.get(environment, 0)}, got match {number}"
        where = f"match {identity} ({environment} {number})"
        try:
            expected[environment] = number + 1
            for difference in _row_differences(db, row, dictionaries.get(environment, b"")):
                yield f"{where}: {difference}"
        except (RunError, *_UNREADABLE) as error:
            yield f"{where}: it cannot be read: {error}"


def _row_differences(db: Database, row: Row, dictionary: bytes) -> Iterator[str]:
    identity, (status, tries, turns, seats, digest, error, sealed) = row[:6], row[6:]
    values = {"match": row[0]}
    chain = seal.of_identity(*identity)
    chains = [chain]
    packed = db.row(_TRANSCRIPT, values)
    transcript = packed[0] if packed else b""
    for payload in unpack_lines(transcript, dictionary) if packed else ():
        chain = seal.link(chain, payload)
        chains.append(chain)
    journal = db.all(_JOURNAL, values)
    for number, payload, turn_seal in journal:
        if number != len(chains) - 1:
            yield f"expected turn {len(chains) - 1}, got turn {number}"
        if seal.link(chain, payload) != turn_seal:
            yield f"turn {number} is not as it was recorded"
        chain = turn_seal  # do not report the later turns too
        chains.append(chain)
    if len(chains) <= turns or (status in FINAL and len(chains) != turns + 1):
        yield f"expected {turns} turns, got {len(chains) - 1}"
    elif seal.of_match(chains[turns], status, tries, turns, seats, digest, error, transcript) != sealed:
        yield "what it came to, or one of its turns, is not as it was recorded"


def _seal_differences(db: Database) -> Iterator[str]:
    row = db.row(_SEAL)
    if row is None:
        yield UNSEALED
        return
    try:
        known: dict[str, Any] = json.loads(row[0])
        head = known.pop("head")
        parts = {kind: dict(known[kind]) for kind in ("facts", "dictionaries", "matches")}
    except _UNREADABLE as error:
        yield f"facts: the seal cannot be read: {error}"
        return
    found = seal_contents(db)
    for kind, sealed in parts.items():
        for name in _unequal(sealed, found[kind]):
            yield f"{kind}: {name} changed, was added or taken away after the run was sealed"
    if seal.head(known) != head or row[0] != dump_seal(head, known):
        yield "the seal is not that of the parts named beside it"


def _unequal(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
