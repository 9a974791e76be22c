"""Descriptions at undercover: what was said of which word, and whether it was judged to be correct."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.llmarena.description_judge.game import YES
from llmarena_envs.undercover.words import WordPair, essence, side_word
from rating.errors import RunError
from rating.records.outcome import SeatOutcome
from rating.records.record import Record
from rating.statistics.bounded import bounded_mean
from rating.statistics.estimates import Estimate


class Clue(NamedTuple):
    """A clue.

    Attributes:
        match: number of its match.
        word: the speaker's word.
        text: what was said.
    """

    match: int
    word: str
    text: str

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said."""
        return not essence(self.text)

    @property
    def item(self) -> str:
        """The id under which it is judged."""
        return item_id(self.word, self.text)


Items = Mapping[str, tuple[str, str]]
"""Word and clue of what is judged, by id; a clue that is given several times for a word is one item."""

Verdicts = Mapping[str, bool | None]
"""What a rater says of items; ``None`` for an abstention."""


def item_id(word: str, clue: str) -> str:
    """Returns the id of an item, which says nothing of who gave the clue and is no number to a spreadsheet."""
    return f"c{hashlib.sha256(json.dumps([word, clue]).encode()).hexdigest()[:12]}"


def clues_of(record: Record, seats: Iterable[SeatOutcome], pairs: Sequence[WordPair]) -> Iterator[Clue]:
    """Yields the clues that some seats gave in a finished match.

    Args:
        record: the match.
        seats: whose clues.
        pairs: the list of words with which it was played.

    Raises:
        RunError: if it was played with another one.
    """
    where = f"match {record.match.number} of {record.match.environment}"
    for seat in seats:
        number, swapped = int(seat.statistics["pair"]), bool(seat.statistics["swapped"])
        if not 0 <= number < len(pairs):
            raise RunError(f"{where}: expected one of {len(pairs)} word pairs, got number {number}")
        word = side_word(pairs[number], undercover=bool(seat.statistics["role"]), swapped=swapped)
        for turn in record.turns:
            if turn.agent != seat.agent or not turn.played.startswith(f"{seat.agent}:"):
                continue  # somebody else's turn, or a vote
            if json.dumps(word, ensure_ascii=False) not in turn.read:
                raise RunError(
                    f"{where}: expected {seat.agent} to read its word {word!r}, but it did not; the list of words is not the one"
                    " with which the run was played"
                )
            yield Clue(record.match.number, word, turn.played.partition(":")[2].strip())


def to_judge(clues: Iterable[Clue], seed: int) -> dict[str, tuple[str, str]]:
    """Returns what is to be judged of some clues, in an order that says nothing of who gave them; blank ones need no judge."""
    found = {clue.item: (clue.word, clue.text) for clue in clues if not clue.is_blank}
    ids = sorted(found)
    return {ids[index]: found[ids[index]] for index in np.random.default_rng(seed).permutation(len(ids))}


def judged(record: Record) -> dict[str, bool | None]:
    """Returns what was said in a match of the judge; a turn that was played for it is an abstention."""
    return {
        item_id(word, clue): None if turn.fallback else turn.action == YES
        for (word, clue), turn in zip(record.match.options["items"], record.turns, strict=False)
    }


def accuracy(clues: Sequence[Clue], verdicts: Verdicts) -> Estimate | None:
    """Returns the share of clues that describe their word correctly, clustered by match.

    A blank clue describes nothing; one of which nothing was decided is left out.
    """
    decided = [(clue.match, False if clue.is_blank else verdicts.get(clue.item)) for clue in clues]
    known = [(match, verdict) for match, verdict in decided if verdict is not None]
    return bounded_mean([verdict for _, verdict in known], [match for match, _ in known])
