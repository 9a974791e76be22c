"""Pairs of continuations in a file of JSON lines, to play nothing twice."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from rating.blame.question import Question
from rating.play.run_directory import check_no_links
from rating.store.json_lines import JsonLines

Key = tuple[int, int, int]
"""Index of the turn, part of the analysis (``SCREEN`` or ``ESTIMATE``) and number of the pair."""

SCREEN, ESTIMATE = 0, 1
"""Parts of the analysis: pairs that choose turns, and pairs that estimate the effects at these."""


@dataclass(frozen=True)
class Pair:
    """A pair of continuations with common random numbers.

    Attributes:
        key: of the pair.
        kept: reward after the recorded reply.
        other: reward after the other reply.
        played: the other reply in the grammar of the game; empty if it is the recorded action.
        is_same: whether it is the recorded action.
        invalid: number of invalid replies of the substitute.
    """

    key: Key
    kept: float
    other: float
    played: str
    is_same: bool
    invalid: int

    @property
    def effect(self) -> float:
        """Cost of the recorded reply."""
        return self.other - self.kept


class Pairs:
    """The file of a question; open while entered.

    Args:
        directory: its directory, which exists and is locked.
        question: the question.

    Raises:
        RunError: on entering, if the file is damaged, or a link.

    Attributes:
        found: the pairs by key.
    """

    def __init__(self, directory: Path, question: Question) -> None:
        self._path = directory / f"{question.name}.jsonl"
        self._lines = JsonLines(self._path, asdict(question), "pair of this question", self._keep)
        self.found: dict[Key, Pair] = {}

    def __enter__(self) -> Self:
        check_no_links([self._path])
        self._lines.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self._lines.__exit__(*details)

    def add(self, pair: Pair) -> None:
        """Writes a pair."""
        self.found[pair.key] = pair
        self._lines.add(asdict(pair))

    def _keep(self, row: dict[str, Any]) -> None:
        pair = _pair(row)
        self.found[pair.key] = pair


def _pair(row: dict[str, Any]) -> Pair:
    turn, part, number = row.pop("key")
    pair = Pair((turn, part, number), **row)
    numbers = (pair.kept, pair.other)
    valid = all(type(each) in (int, float) and math.isfinite(each) for each in numbers)
    whole = all(type(each) is int for each in (*pair.key, pair.invalid))
    if not (valid and whole and type(pair.played) is str and type(pair.is_same) is bool):
        raise TypeError("a field of another type")
    return pair
