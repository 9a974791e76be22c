"""Audit of a run: finds every difference between its database and its seals."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rating.errors import RunError, StoreError
from rating.store import seal
from rating.store.outcome import FINAL
from rating.store.packing import unpack, unpack_lines
from rating.store.sql import Row, Sql

SEAL = "seal"
"""Name of the fact with the seal of a run, as ``head``, and the parts of the seal."""

UNSEALED = "the run is not sealed: it is under way or was killed (resume seals it), or its seal was taken away"
"""Reported for a run without a seal."""

_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""Errors raised by reading damaged values."""


def seal_contents(db: Sql) -> dict[str, Any]:
    """Returns the parts of the seal from the current database; see ``seal.contents``."""
    facts: dict[str, str] = dict(db.rows("SELECT name, value FROM fact WHERE name != ?", SEAL))
    dictionaries: dict[str, bytes] = dict(db.rows("SELECT environment, data FROM dictionary"))
    journals: dict[str, str] = dict(
        db.rows(
            "SELECT match, seal FROM turn WHERE number = (SELECT max(number) FROM turn AS other WHERE other.match = turn.match)"
        )
    )
    matches = db.rows("SELECT environment, seal, id FROM match ORDER BY environment, number")
    entries = (seal.Entry(environment, sealed, journals.get(match, "")) for environment, sealed, match in matches)
    return seal.contents(facts, dictionaries, entries)


def stored_head(db: Sql) -> str:
    """Returns the seal of the run, or an empty string if it has none."""
    row = db.row("SELECT value FROM fact WHERE name = ?", SEAL)
    try:
        return str(json.loads(row[0])["head"]) if row else ""
    except _UNREADABLE as error:
        raise RunError(f"the record of a run is damaged: expected a seal, got {str(row)[:80]}") from error


def dump_seal(head: str, parts: Mapping[str, Any]) -> str:
    """Returns the value of the fact ``SEAL``."""
    return json.dumps({"head": head, **parts}, sort_keys=True)


def differences(db: Sql) -> Iterator[str]:
    """Yields every difference with its location; linear in the size of the database."""
    try:
        yield from db.flaws()
        yield from _match_differences(db)
        for table in ("turn", "transcript"):
            for (match,) in db.rows(f"SELECT DISTINCT match FROM {table} WHERE match NOT IN (SELECT id FROM match)"):
                yield f"table {table}: what it holds of match {match!r} belongs to no match of the run"
        yield from _seal_differences(db)
    except (StoreError, *_UNREADABLE) as error:
        yield f"the database cannot be read any further: {error}"


def _match_differences(db: Sql) -> Iterator[str]:
    dictionaries: dict[str, bytes] = {}
    for environment, data in db.rows("SELECT environment, data FROM dictionary"):
        try:
            dictionaries[environment] = unpack(data)
        except RunError as error:
            yield f"dictionary of {environment}: {error}"
    expected: dict[str, int] = {}
    for row in db.rows(
        "SELECT id, environment, number, policies, seed, options, status, tries, turns, seats, digest, error, seal FROM match"
        " ORDER BY environment, number"
    ):
        match, environment, number = row[:3]
        if number != expected.get(environment, 0):
            yield f"{environment}: expected match {expected.get(environment, 0)}, got match {number}"
        where = f"match {match} ({environment} {number})"
        try:
            expected[environment] = number + 1
            for difference in _row_differences(db, row, dictionaries.get(environment, b"")):
                yield f"{where}: {difference}"
        except (RunError, *_UNREADABLE) as error:
            yield f"{where}: it cannot be read: {error}"


def _row_differences(db: Sql, row: Row, dictionary: bytes) -> Iterator[str]:
    identity, (status, tries, turns, seats, digest, error, sealed) = row[:6], row[6:]
    match = row[0]
    chain = seal.of_identity(*identity)
    chains = [chain]
    packed = db.row("SELECT turns FROM transcript WHERE match = ?", match)
    transcript = packed[0] if packed else b""
    for payload in unpack_lines(transcript, dictionary) if packed else ():
        chain = seal.link(chain, payload)
        chains.append(chain)
    journal = db.all("SELECT number, payload, seal FROM turn WHERE match = ? ORDER BY number", match)
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


def _seal_differences(db: Sql) -> Iterator[str]:
    row = db.row("SELECT value FROM fact WHERE name = ?", SEAL)
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
