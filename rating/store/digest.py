"""Digests of a run: a chain of SHA-256 hashes over everything recorded, and the audit that finds every difference to it.

The seal of a match covers its identity, the text of each turn and its outcome. The seal of a run covers its facts and the
seals of its matches. A digest is the same for every match with the same replies; a seal also covers wall times, failed
attempts and errors. The seal of a run therefore reveals every change to its record.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import bindparam, func, select

from rating.errors import RunError, StoreError
from rating.store.engine import Database, Row
from rating.store.packing import unpack, unpack_lines
from rating.store.records import FINAL
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
TRANSCRIPT = select(transcript.c.turns).where(transcript.c.match == bindparam("match"))
JOURNAL = (
    select(turn.c.number, turn.c.payload, turn.c.seal).where(turn.c.match == bindparam("match")).order_by(turn.c.number)
)


def link(previous: str, *parts: str | bytes) -> str:
    """Returns the seal after one more entry: 64 hexadecimal digits.

    Args:
        previous: the previous seal, or an empty string.
        parts: parts of the entry; each is hashed with its length, so another split of the same text has another seal.
    """
    state = hashlib.sha256()
    for part in (previous, *parts):
        data = part.encode() if isinstance(part, str) else part
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


def seal_of_identity(match_id: str, environment: str, number: int, policies: str, seed: str, options: str) -> str:
    """Returns the seal of a match before its first turn; the arguments are as stored."""
    return link("", match_id, environment, str(number), policies, seed, options)


def seal_of_match(
    turns_seal: str, status: str, tries: int, turns: int, seats: str, digest: str, error: str, transcript: bytes
) -> str:
    """Returns the seal of a match.

    Args:
        turns_seal: seal of its last turn, or of its identity if it has none.
        status: column of the match as stored, like ``tries``, ``turns``, ``seats``, ``digest`` and ``error``.
        transcript: its packed turns.
    """
    return link(turns_seal, status, str(tries), str(turns), seats, digest, error, transcript)


def seal_parts(db: Database) -> dict[str, dict[str, str]]:
    """Returns the parts of the seal of a run from its current database, separate to locate differences.

    These are its facts, compression dictionaries, and for each environment the chain of the seals of its matches.
    """
    journals = db.pairs(_LAST_TURNS)
    chains: dict[str, tuple[int, str]] = {}
    for environment, sealed, identity in db.rows(_SEALS):
        count, chain = chains.get(environment, (0, ""))
        # The last turn of the journal: the seal of the match does not cover turns of a match in progress.
        chains[environment] = count + 1, link(chain, sealed, journals.get(identity, ""))
    return {
        "facts": {name: link("", value) for name, value in db.pairs(_OTHER_FACTS).items()},
        "dictionaries": {environment: link("", data) for environment, data in db.pairs(_DICTIONARIES).items()},
        "matches": {environment: f"{count} {chain}" for environment, (count, chain) in chains.items()},
    }


def seal_of_run(parts: Mapping[str, Any]) -> str:
    """Returns the seal of a run from its parts."""
    return link("", json.dumps(parts, sort_keys=True))


def stored_seal(db: Database) -> str:
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
    chain = seal_of_identity(*identity)
    chains = [chain]
    packed = db.row(TRANSCRIPT, values)
    transcript = packed[0] if packed else b""
    for payload in unpack_lines(transcript, dictionary) if packed else ():
        chain = link(chain, payload)
        chains.append(chain)
    journal = db.all(JOURNAL, values)
    for number, payload, turn_seal in journal:
        if number != len(chains) - 1:
            yield f"expected turn {len(chains) - 1}, got turn {number}"
        if link(chain, payload) != turn_seal:
            yield f"turn {number} is not as it was recorded"
        chain = turn_seal  # do not report the later turns too
        chains.append(chain)
    if len(chains) <= turns or (status in FINAL and len(chains) != turns + 1):
        yield f"expected {turns} turns, got {len(chains) - 1}"
    elif seal_of_match(chains[turns], status, tries, turns, seats, digest, error, transcript) != sealed:
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
    found = seal_parts(db)
    for kind, sealed in parts.items():
        for name in sorted({*sealed, *found[kind]}):
            if sealed.get(name) != found[kind].get(name):
                yield f"{kind}: {name} changed, was added or taken away after the run was sealed"
    if seal_of_run(known) != head or row[0] != dump_seal(head, known):
        yield "the seal is not that of the parts named beside it"
