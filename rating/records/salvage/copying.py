"""The new database of a damaged run: what verifies is copied byte for byte, the rest is listed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from rating.records import sqlite
from rating.records.audit import SEAL
from rating.records.salvage.found import Found
from rating.records.salvage.verified import Kept, Verification
from rating.records.sql import Sql

_AT_ONCE = 1000
"""Matches of a transaction."""


@dataclass(frozen=True)
class Loss:
    """Something of a run that cannot be kept.

    Attributes:
        what: is lost, and why.
        environment: module name; empty if it is unknown, or the loss is that of no match.
        first: number of the match in its environment, or of the first of several; ``None`` if it is unknown.
        last: number of the last of them.
        match: id; empty if it is unknown.
    """

    what: str
    environment: str = ""
    first: int | None = None
    last: int | None = None
    match: str = ""

    def __str__(self) -> str:
        numbers = (
            "" if self.first is None else f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"
        )
        place = " ".join(part for part in (self.environment, numbers) if part)
        where = (
            f"match {self.match} ({place})" if self.match and place else f"match {self.match}" if self.match else place
        )
        return f"{where}: {self.what}" if where else self.what

    def table(self) -> dict[str, Any]:
        """Returns it as JSON values."""
        return asdict(self)


@dataclass
class Salvaged:
    """What of a run was kept.

    Attributes:
        matches: that were kept, by what they came to.
        turns: of those of them that have not ended.
        facts: that were kept.
        losses: the rest.
        seal: of the run as it was, and what that was made from; empty if it has none.
    """

    matches: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    facts: dict[str, str] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    seal: dict[str, Any] = field(default_factory=dict)


def copy(found: Found, path: Path) -> Salvaged:
    """Makes a database of what verifies.

    Args:
        found: what there is.
        path: of the new file.

    Raises:
        RunError: if the file is there already.
        StoreError: if it cannot be written.
    """
    verification = Verification(found)
    salvaged = Salvaged(seal=verification.seal)
    db = sqlite.create(path)
    try:
        numbers = _copy_matches(found, verification, db, salvaged)
        with db.transaction():
            for environment, dictionary in sorted(verification.dictionaries.items()):
                db.execute("INSERT INTO dictionary VALUES (?, ?)", environment, dictionary)
            salvaged.facts = verification.facts()
            for name, value in salvaged.facts.items():
                db.execute("INSERT INTO fact VALUES (?, ?)", name, value)
    finally:
        db.close()
    for environment in sorted({*numbers, *verification.sealed_sizes}):
        known = sorted(numbers.get(environment, ()))
        for first, last in _gaps(known, verification.sealed_sizes.get(environment, 0)):
            salvaged.losses.append(Loss("the row that says what was to be played is lost", environment, first, last))
    for name in sorted({*found.facts, *verification.seal.get("facts", ())} - {SEAL, *salvaged.facts}):
        salvaged.losses.append(Loss(f"fact {name}: it is lost or is not as it was recorded"))
    for name in sorted({*verification.seal.get("dictionaries", ())} - {*verification.dictionaries}):
        salvaged.losses.append(Loss(f"dictionary of {name}: it is lost or is not as it was recorded"))
    return salvaged


def _copy_matches(found: Found, verification: Verification, db: Sql, salvaged: Salvaged) -> dict[str, set[int]]:
    """Copies the matches and returns their numbers by environment."""
    numbers: dict[str, set[int]] = {}
    ids = iter(found.ids())
    while some := list(islice(ids, _AT_ONCE)):
        with db.transaction():
            for match_id in some:
                kept = verification.match(match_id)
                if kept is None:
                    salvaged.losses.append(Loss("the row that says what was to be played is lost", match=match_id))
                    continue
                environment, number = kept.row.environment, kept.row.number
                taken = numbers.setdefault(environment, set())
                if number in taken:
                    what = "another match has its number"
                else:
                    taken.add(number)
                    _copy_match(db, kept)
                    salvaged.matches[kept.row.status] += 1
                    salvaged.turns += len(kept.journal)
                    what = kept.loss
                if what:
                    salvaged.losses.append(Loss(what, environment, number, number, match_id))
    return numbers


def _copy_match(db: Sql, kept: Kept) -> None:
    db.execute("INSERT INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *kept.row)
    if kept.transcript:
        db.execute("INSERT INTO transcript VALUES (?, ?)", kept.row.id, kept.transcript)
    for turn in kept.journal:
        db.execute("INSERT INTO turn VALUES (?, ?, ?, ?)", *turn)


def _gaps(known: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """Yields the first and the last of the numbers below ``size``, or below the last that is known, that are missing."""
    expected = 0
    for number in known:
        if number > expected:
            yield expected, number - 1
        expected = number + 1
    if expected < size:
        yield expected, size - 1
