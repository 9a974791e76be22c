"""Results in logs, rejected rows, and names."""

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from agents.records import encodable
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.judgements import Judgement
from rating.readers.rows import UnreadableRow, each_row, is_text
from rating.stats.results import NO_STYLE, Battle, SeatConduct, Style

T = TypeVar("T")

MOST_BATTLES = 2_000_000
"""Most battles of one log; a win matrix or a few files of scores can state any number of them."""

_LONGEST_NAME = 200
_LONGEST_CASE = 120


class Lengths(NamedTuple):
    """The lengths of the two texts of an item, in words."""

    item: str
    words: tuple[float, float]


class Result(NamedTuple):
    """A result in a log.

    Attributes:
        battle: the battle; ``None`` for a judgement without one, such as a verdict before discussion.
        environment: name of the environment; empty if the log does not state it.
        judgement: the verdict of a named judge; ``None`` without one.
        is_first: whether the judgement is the verdict before discussion only.
        lengths: the lengths of the texts of an item; ``None`` unless the row is about them.
        conduct: errors of the seats of a game; empty if the format has none.
    """

    battle: Battle | None
    environment: str = ""
    judgement: Judgement | None = None
    is_first: bool = False
    lengths: Lengths | None = None
    conduct: tuple[SeatConduct, ...] = ()


class Rejected(NamedTuple):
    """A rejected row.

    Attributes:
        file: path of the file.
        where: place in the file, e.g. ``line 3``.
        reason: why it was rejected.
    """

    file: Path
    where: str
    reason: str


def read_each(paths: Sequence[Path], read: Callable[[dict[str, Any], Path, str], T]) -> Iterator[T | Rejected]:
    """Yields what is read from each row, and the rejected rows.

    Args:
        paths: the files.
        read: reads a row, given its file and its place there; raises ``OptionError`` to reject it.
    """
    for path in paths:
        for where, row in each_row(path):
            if isinstance(row, UnreadableRow):
                yield Rejected(path, where, row.reason)
                continue
            try:
                found = read(row, path, where)
            except OptionError as error:
                yield Rejected(path, where, str(error))
            else:
                yield found


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
    """Returns a battle of two policies.

    Raises:
        OptionError: if both are the same.
    """
    if players[0] == players[1]:
        raise OptionError(f"expected two policies, got {players[0]!r:.60} against itself")
    return Battle(*players, score, deal, weight, style)


def finite_number(name: str, value: Any) -> float:
    """Returns a finite number; true and false are 1 and 0."""
    try:
        number = float(
            {"true": 1, "false": 0}.get(value.strip().casefold(), value) if isinstance(value, str) else value
        )
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"{name}: expected a number, got {str(value)!r:.60}")
    return number
