"""The grammar of a statement: a game's full description of its players' replies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from llmarena_envs.core.reading.labels import PLAYERS, Seats

Value = TypeVar("Value")


def _no_fields(fields: Mapping[str, Any]) -> None:
    return None


@dataclass(frozen=True)
class Grammar(Generic[Value]):
    """The grammar of a statement in one game.

    Attributes:
        read: parses a value at the very beginning of a text: takes the text and whether a label precedes it, returns the
            value and its end offset, or ``None``; can raise a ``ParseError`` for an understood but impossible statement.
        nouns: names of a move in labels and as key of an object, alternatives of a pattern, e.g. ``"vote|ballot"``.
        seats: names of the players.
        fields: parses a value from the fields of an object (keys in lower case), or returns ``None``; can raise a ``ParseError``.
        lines: maximum number of lines of a value.
        free: whether any text is a valid value, as for a clue; then fewer labels count.
        bare: lines where an unlabelled value counts: any (``"anywhere"``), the last (``"last"``) or none (``"never"``).
    """

    read: Callable[[str, bool], tuple[Value, int] | None]
    nouns: str = ""
    seats: Seats = PLAYERS
    fields: Callable[[Mapping[str, Any]], Value | None] = _no_fields
    lines: int = 1
    free: bool = False
    bare: str = "anywhere"
