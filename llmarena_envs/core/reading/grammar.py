"""What a statement of one game looks like: all that a game says about the replies of its players."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from llmarena_envs.core.reading.labels import PLAYERS, Seats

Value = TypeVar("Value")


def _no_fields(fields: Mapping[str, Any]) -> None:
    return None


@dataclass(frozen=True)
class Grammar(Generic[Value]):
    """What a statement of one game looks like.

    Attributes:
        read: reads a value at the very beginning of a text: gets the text and whether a label stands before it, returns the
            value and where it ends, or ``None``; may raise a ``Refusal`` for a statement that is understood but impossible.
        nouns: what a move is called in labels and as key of an object, alternatives of a pattern, e.g. ``"vote|ballot"``.
        seats: how players are called.
        fields: reads a value from the fields of an object (keys in lower case), or returns ``None``; may raise a ``Refusal``.
        lines: how many lines a value may take.
        free: whether any text would do as a value, as for a clue; then fewer labels count.
        bare: where a value without a label counts: on any line (``"anywhere"``), the last one, or not at all (``"never"``).
    """

    read: Callable[[str, bool], tuple[Value, int] | None]
    nouns: str = ""
    seats: Seats = PLAYERS
    fields: Callable[[Mapping[str, Any]], Value | None] = _no_fields
    lines: int = 1
    free: bool = False
    bare: str = "anywhere"
