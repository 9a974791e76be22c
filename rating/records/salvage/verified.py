"""What of the rows that were found is as it was recorded: only what has a seal that can be computed again."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from rating.errors import RunError
from rating.records import audit, seal
from rating.records.outcome import FINAL
from rating.records.packing import make_dictionary, needs_dictionary, pack, unpack, unpack_lines
from rating.records.record import UNFINISHED, dump_match, load_match
from rating.records.salvage.found import Found, MatchRow, TurnRow


class Kept(NamedTuple):
    """A match as far as it verifies.

    Attributes:
        row: of the match; of one whose end is lost, as it was before.
        transcript: its turns as they are packed; empty unless it has ended.
        journal: its turns in the order in which they were played, unless they are packed.
        loss: what is lost of it, or an empty string.
    """

    row: MatchRow
    transcript: bytes
    journal: tuple[TurnRow, ...]
    loss: str


class Verification:
    """Computes the seals of what was found again.

    Args:
        found: the rows.

    Attributes:
        dictionaries: by environment, packed, those that verify: because the seal of the run covers them, or that of a match which
            was packed with them or of which they were made.
    """

    def __init__(self, found: Found) -> None:
        self._found = found
        self._candidates: defaultdict[str, dict[bytes, bytes]] = defaultdict(dict)
        self.dictionaries: dict[str, bytes] = {}
        for environment, versions in found.dictionaries.items():
            for packed in versions:
                with suppress(RunError):
                    self._candidates[environment][packed] = unpack(packed)
                    if self.seal and seal.link("", packed) == self.seal["dictionaries"].get(environment):
                        self.dictionaries[environment] = packed
        for match_id in sorted(found.free):
            self._derive_dictionary(match_id)

    def _derive_dictionary(self, match_id: str) -> None:
        """Makes the dictionary of an environment anew from the match that it was made from."""
        for row in self._rows(match_id):
            for transcript in self._found.transcripts(match_id):
                with suppress(RunError):
                    lines = unpack_lines(transcript, b"")
                    if _is_sealed(row, lines, transcript):
                        known = {data: packed for packed, data in self._candidates[row.environment].items()}
                        dictionary = make_dictionary(lines)
                        packed = known.get(dictionary) or pack(dictionary)
                        self._candidates[row.environment][packed] = dictionary
                        self.dictionaries.setdefault(row.environment, packed)

    @cached_property
    def seal(self) -> dict[str, Any]:
        """What the seal of the run was made from; empty if it was not sealed, or its seal is damaged."""
        versions = [row for row in self._found.facts.get(audit.SEAL, ()) if row.is_current]
        for row in sorted(versions, key=lambda row: row.rowid, reverse=True):
            with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
                parts: dict[str, Any] = json.loads(row.values[1])
                head = parts.pop("head")
                if seal.head(parts) == head and all(
                    isinstance(parts[kind], dict) for kind in ("facts", "dictionaries", "matches")
                ):
                    return {"head": head, **parts}
        return {}

    @property
    def sealed_sizes(self) -> dict[str, int]:
        """Number of matches of each environment, as far as the seal of the run says it."""
        sizes = {}
        for environment, chain in self.seal.get("matches", {}).items():
            with suppress(ValueError):
                sizes[environment] = int(str(chain).split()[0])
        return sizes

    def facts(self) -> dict[str, str]:
        """Returns the facts of the run: those that its seal covers, or, without a seal, those that were written last."""
        facts = {}
        for name, versions in sorted(self._found.facts.items()):
            latest_first = sorted(versions, key=lambda row: (row.rowid, row.is_current), reverse=True)
            values: list[str] = [row.values[1] for row in latest_first]
            if self.seal:
                values = [value for value in values if seal.link("", value) == self.seal["facts"].get(name)]
            if values and name != audit.SEAL:
                facts[name] = values[0]
        return facts

    def match(self, match_id: str) -> Kept | None:
        """Returns a match as far as it verifies, or ``None`` if no row says what was to be played."""
        rows = self._rows(match_id)
        if not rows:
            return None
        for row in rows:
            if row.status in FINAL and (transcript := self._transcript(row)) is not None:
                return Kept(row, transcript, (), "")
        journal = tuple(self._journal(rows[0]))
        row = next((row for row in rows if _is_sealed_journal(row, journal)), _unplayed(rows[0]))
        return Kept(row, b"", journal, self._loss(row, rows[0], len(journal)))

    def _loss(self, row: MatchRow, latest: MatchRow, turns: int) -> str:
        """Says what is lost of a match whose turns are not packed."""
        if row.status in FINAL:
            return ""
        if self._found.has_transcript(row.id) or latest.status in FINAL:
            if not self._candidates[row.environment]:
                return f"its turns cannot be unpacked, since the dictionary of {row.environment} is lost"
            return "its end, or one of its turns, is lost or is not as it was recorded"
        if _age(row) < _age(latest):
            return "what it came to is not as it was recorded"
        if self._found.last_turn(row.id) >= turns:
            return f"turn {turns} and those after it are lost or are not as they were recorded"
        return ""

    def _rows(self, match_id: str) -> list[MatchRow]:
        """Returns the versions of a row that say what was to be played, the last one first."""
        return sorted(filter(_is_match, self._found.matches(match_id)), key=_age, reverse=True)

    def _transcript(self, row: MatchRow) -> bytes | None:
        """Returns the transcript of a match that has ended, or ``None`` if its seal covers none of those that were found."""
        for transcript in (*self._found.transcripts(row.id), b""):
            candidates = self._candidates[row.environment] if needs_dictionary(transcript) else {b"": b""}
            for packed, dictionary in candidates.items():
                with suppress(RunError):
                    lines = unpack_lines(transcript, dictionary) if transcript else []
                    if _is_sealed(row, lines, transcript) and self._is_dictionary(row.environment, packed):
                        return transcript
        return None

    def _is_dictionary(self, environment: str, packed: bytes) -> bool:
        """Takes a dictionary, of a match that verifies, for that of its environment, unless that is another one."""
        return not packed or self.dictionaries.setdefault(environment, packed) == packed

    def _journal(self, row: MatchRow) -> Iterator[TurnRow]:
        """Yields the turns of a match as far as each goes on from the one before."""
        chain = seal.of_identity(*row[:6])
        for number in count():
            turns = self._found.turns(row.id, number)
            turn = next((turn for turn in turns if seal.link(chain, turn.payload) == turn.seal), None)
            if turn is None:
                return
            chain = turn.seal
            yield turn


def _age(row: MatchRow) -> tuple[bool, int, int]:
    """Returns what grows from one version of the row of a match to the next."""
    return row.status in FINAL, row.tries, row.turns


def _is_match(row: MatchRow) -> bool:
    """Says whether a row says what was to be played, which its id is made of."""
    try:
        return dump_match(load_match(*row[1:6])) == row[:6]
    except RunError:
        return False


def _is_sealed(row: MatchRow, lines: Sequence[str], transcript: bytes) -> bool:
    """Says whether the seal of a match that has ended covers these turns and the rest of its row."""
    chain = seal.of_identity(*row[:6])
    for line in lines:
        chain = seal.link(chain, line)
    return len(lines) == row.turns and seal.of_match(chain, *row[6:12], transcript) == row.seal


def _is_sealed_journal(row: MatchRow, journal: Sequence[TurnRow]) -> bool:
    """Says the same of a match whose turns are not packed; if it has not ended, its seal covers later ones not yet."""
    if not 0 <= row.turns <= len(journal) or (row.status in FINAL and row.turns < len(journal)):
        return False
    chain = journal[row.turns - 1].seal if row.turns else seal.of_identity(*row[:6])
    return seal.of_match(chain, *row[6:12], b"") == row.seal


def _unplayed(row: MatchRow) -> MatchRow:
    """Returns the row of a match as it was entered."""
    state = (UNFINISHED, 0, 0, "", "", "")
    return MatchRow(*row[:6], *state, seal.of_match(seal.of_identity(*row[:6]), *state, b""))
