"""What the pages of a damaged database hold of a run: rows by what they belong to, verified or not, old ones among them."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from rating.records.packing import needs_dictionary
from rating.records.salvage.pages import Pages, Place, Row

_MATCH = (str, str, int, str, str, str, str, int, int, str, str, str, str)
_TURN = (str, int, str, str)
_FACT = (str, str)
_PACKED = (str, bytes)
"""Types of the columns of a transcript and of a dictionary; only the key of a transcript is the id of a match."""

_MATCH_ID = re.compile(r"[0-9a-f]{16}")


class MatchRow(NamedTuple):
    """A row of the table of matches."""

    id: str
    environment: str
    number: int
    policies: str
    seed: str
    options: str
    status: str
    tries: int
    turns: int
    seats: str
    digest: str
    error: str
    seal: str


class TurnRow(NamedTuple):
    """A row of the journal."""

    match: str
    number: int
    payload: str
    seal: str


class Found:
    """Rows of a run.

    Args:
        pages: that hold them; stay open, since all rows together may be large and are read again when they are asked for.

    Attributes:
        facts: every version of each fact by its name.
        dictionaries: every version of each dictionary, packed, by its environment.
        free: ids of matches with a transcript that was packed without a dictionary.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._matches: defaultdict[str, list[Place]] = defaultdict(list)
        self._transcripts: defaultdict[str, list[Place]] = defaultdict(list)
        self._turns: defaultdict[str, defaultdict[int, list[Place]]] = defaultdict(lambda: defaultdict(list))
        self.facts: defaultdict[str, list[Row]] = defaultdict(list)
        self.dictionaries: defaultdict[str, list[bytes]] = defaultdict(list)
        self.free: set[str] = set()
        known: set[bytes] = set()
        for place, row in pages.rows():
            types = tuple(map(type, row.values))
            if types == _FACT:
                self.facts[row.values[0]].append(row)
            elif types in (_MATCH, _TURN, _PACKED) and (digest := _digest(row.values)) not in known:
                known.add(digest)
                self._enter(types, place, row.values)

    def _enter(self, types: tuple[type, ...], place: Place, values: tuple[Any, ...]) -> None:
        key = values[0]
        if types == _MATCH:
            self._matches[key].append(place)
        elif types == _TURN:
            self._turns[key][values[1]].append(place)
        elif _MATCH_ID.fullmatch(key):
            self._transcripts[key].append(place)
            if not needs_dictionary(values[1]):
                self.free.add(key)
        else:
            self.dictionaries[key].append(values[1])

    def ids(self) -> list[str]:
        """Returns the ids of matches of which there is anything, sorted."""
        return sorted({*self._matches, *self._turns, *self._transcripts})

    def matches(self, match_id: str) -> list[MatchRow]:
        """Returns every version of the row of a match."""
        return [MatchRow(*self._values(place)) for place in self._matches.get(match_id, ())]

    def turns(self, match_id: str, number: int) -> list[TurnRow]:
        """Returns every version of a turn in the journal of a match."""
        places = self._turns[match_id].get(number, ()) if match_id in self._turns else ()
        return [TurnRow(*self._values(place)) for place in places]

    def last_turn(self, match_id: str) -> int:
        """Returns the highest number of a turn in the journal of a match, or -1."""
        return max(self._turns.get(match_id, ()), default=-1)

    def transcripts(self, match_id: str) -> Iterator[bytes]:
        """Yields every version of the transcript of a match."""
        return (self._values(place)[1] for place in self._transcripts.get(match_id, ()))

    def has_transcript(self, match_id: str) -> bool:
        """Says whether a match has ended, which is when its turns become a transcript."""
        return match_id in self._transcripts

    def _values(self, place: Place) -> tuple[Any, ...]:
        return self._pages.read(place).values


def _digest(values: tuple[Any, ...]) -> bytes:
    return hashlib.blake2b(repr(values).encode(), digest_size=16).digest()
