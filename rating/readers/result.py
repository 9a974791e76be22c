"""Results read from a log: a result of two policies, or a rejected row."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agents.records import encodable
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.judgements import SCORES, Judgement, Label
from rating.rows import UnreadableRow, each_row, is_text
from rating.stats.results import NO_STYLE, Battle, Style

MOST_BATTLES = 2_000_000
"""Most results of one import; a win matrix or a few files of scores can state any number of them."""

_LONGEST_NAME = 200
_LONGEST_CASE = 120


class Result(NamedTuple):
    """The result in a row.

    Attributes:
        battle: the result; ``None`` for a judgement without one, such as a verdict before discussion.
        environment: name of the environment; empty if the log does not state it.
        judgement: the verdict of a named judge; ``None`` without one.
    """

    battle: Battle | None
    environment: str = ""
    judgement: Judgement | None = None


class Rejected(NamedTuple):
    """A rejected row.

    Attributes:
        file: path of the file.
        where: place in the file, e.g. ``line 3``.
        reason: why it was rejected.
        text: beginning of the row.
    """

    file: Path
    where: str
    reason: str
    text: str


class Reader(Protocol):
    """Reads the files of a format."""

    def __call__(self, paths: Sequence[Path], metric: str) -> Iterator[Result | Rejected]:
        """Yields the results and rejected rows of the files; ``metric`` selects one of several scores."""
        ...


class RowReader(Protocol):
    """Reads one row."""

    def __call__(self, row: dict[str, Any], where: str) -> Iterable[Result]:
        """Returns the results of a row.

        Raises:
            OptionError: if it has no result.
        """
        ...


@dataclass(frozen=True)
class RowsOf:
    """Reads files with one result per row.

    Args:
        read: reads one row.
    """

    read: RowReader

    def __call__(self, paths: Sequence[Path], metric: str) -> Iterator[Result | Rejected]:
        """Yields the results in row order; a second verdict of a judge on the same item is rejected."""
        known: set[bytes] = set()
        for path in paths:
            for where, row in each_row(path):
                if isinstance(row, UnreadableRow):
                    yield Rejected(path, where, row.reason, row.text)
                    continue
                try:
                    results = list(self.read(row, f"{path.name}, {where}"))
                    said = [_key(result) for result in results if result.judgement is not None]
                    if not known.isdisjoint(said):
                        raise OptionError("the verdict of this judge on this case stands there already")
                except OptionError as error:
                    yield Rejected(path, where, str(error), str(row)[:200])
                else:
                    known.update(said)
                    yield from results


def _key(result: Result) -> bytes:
    """Returns a key of environment, item, judge and stage; a short digest, since there can be millions."""
    said = result.judgement or Judgement("", "", None)
    is_first = str(said.first is not None and said.final is None)
    text = "\0".join((result.environment, said.item, said.judge, is_first))
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()


@lru_cache(1 << 12)
def name_of(text: str) -> str:
    """Returns a normalised name: one line, without terminal control characters.

    Raises:
        OptionError: if it is empty, too long or not valid text.
    """
    if not is_text(text):
        raise OptionError(f"expected a name in UTF-8, got {text!a:.60}")
    name = " ".join(printable(text).split())
    if not 0 < len(name) <= _LONGEST_NAME:
        raise OptionError(f"expected a name of 1 to {_LONGEST_NAME} characters, got {name!r:.60}")
    return name


def case_name(text: str) -> str:
    """Returns a short unique name of an item on one line; long texts are cut and get a digest."""
    text = encodable(text)
    name = " ".join(printable(text).split())
    if len(name) <= _LONGEST_CASE:
        return name
    return f"{name[: _LONGEST_CASE - 20]} ({hashlib.sha256(text.encode()).hexdigest()[:16]})"


def battle_of(
    players: tuple[str, str], score: float, deal: str = "", weight: float = 1.0, style: Style = NO_STYLE
) -> Battle:
    """Returns a result of two policies.

    Raises:
        OptionError: if both are the same.
    """
    if players[0] == players[1]:
        raise OptionError(f"expected two policies, got {players[0]!r:.60} against itself")
    return Battle(*players, score, deal, weight, style)


def score_of(label: Label) -> float:
    """Returns the score of the first for a verdict.

    Raises:
        OptionError: if the verdict is a number.
    """
    if not isinstance(label, str):
        raise OptionError(f"expected A, B or tie, got {label:g}")
    return SCORES[label]


def number_of(name: str, value: Any) -> float:
    """Returns a finite number; true and false are 1 and 0.

    Raises:
        OptionError: if it is not a number.
    """
    try:
        number = float(
            {"true": 1, "false": 0}.get(value.strip().casefold(), value) if isinstance(value, str) else value
        )
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"{name}: expected a number, got {str(value)!r:.60}")
    return number
