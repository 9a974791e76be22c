"""Descriptions at undercover: clues by word, and whether they were judged correct."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.experiments.asking import Answer
from benchmarks.llmarena.description_judge.case import Description
from llmarena_envs.undercover.words import WordPair, essence, side_word
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean
from rating.store.records import Record, SeatOutcome


class Clue(NamedTuple):
    """A clue.

    Attributes:
        match: number of its match.
        word: the speaker's word.
        text: text of the clue.
    """

    match: int
    word: str
    text: str

    @property
    def is_blank(self) -> bool:
        """Whether the clue is empty."""
        return not essence(self.text)

    @property
    def item(self) -> str:
        """The id of the judged item."""
        return item_id(self.word, self.text)


Items = Mapping[str, tuple[str, str]]
"""Word and clue of each judged item, by id; repeated clues for a word are one item."""

Verdicts = Mapping[str, bool | None]
"""A rater's verdicts by item; ``None`` for an abstention."""


def item_id(word: str, clue: str) -> str:
    """Returns the id of an item; it does not reveal the author, and spreadsheets do not read it as a number."""
    return f"c{hashlib.sha256(json.dumps([word, clue]).encode()).hexdigest()[:12]}"


def clues_of(record: Record, seats: Iterable[SeatOutcome], pairs: Sequence[WordPair]) -> Iterator[Clue]:
    """Yields the clues of some seats in a finished match.

    Args:
        record: the match.
        seats: seats to include.
        pairs: the list of word pairs of the match.

    Raises:
        RunError: if the match was played with another list.
    """
    where = f"match {record.match.number} of {record.match.environment}"
    for seat in seats:
        number, swapped = int(seat.statistics["pair"]), bool(seat.statistics["swapped"])
        if not 0 <= number < len(pairs):
            raise RunError(f"{where}: expected one of {len(pairs)} word pairs, got number {number}")
        word = side_word(pairs[number], undercover=bool(seat.statistics["role"]), swapped=swapped)
        for turn in record.turns:
            if turn.agent != seat.agent or not turn.played.startswith(f"{seat.agent}:"):
                continue  # another agent's turn, or a vote
            if json.dumps(word, ensure_ascii=False) not in turn.read:
                raise RunError(
                    f"{where}: expected {seat.agent} to read its word {word!r}, but it did not; the list of words is not the one"
                    " with which the run was played"
                )
            yield Clue(record.match.number, word, turn.played.partition(":")[2].strip())


def to_judge(clues: Iterable[Clue], seed: int) -> dict[str, tuple[str, str]]:
    """Returns the items to judge, in a random order that hides their authors; blank clues need no judge."""
    found = {clue.item: (clue.word, clue.text) for clue in clues if not clue.is_blank}
    ids = sorted(found)
    return {ids[index]: found[ids[index]] for index in np.random.default_rng(seed).permutation(len(ids))}


def judged(answers: Iterable[Answer[Description]]) -> dict[str, bool | None]:
    """Returns the verdicts of a judge by item; an answer without a verdict is an abstention."""
    return {answer.case.name: next(iter(answer.accepted), None) for answer in answers}


def accuracy(clues: Sequence[Clue], verdicts: Verdicts) -> Estimate | None:
    """Returns the share of clues that describe their word correctly, clustered by match.

    A blank clue counts as incorrect; a clue without a verdict is left out.
    """
    decided = [(clue.match, False if clue.is_blank else verdicts.get(clue.item)) for clue in clues]
    known = [(match, verdict) for match, verdict in decided if verdict is not None]
    return bounded_mean([verdict for _, verdict in known], [match for match, _ in known])
