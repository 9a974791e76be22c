"""Style of the compared texts in published logs: counts, or the texts themselves.

Source of the names: Chatbot Arena (``conv_metadata``, ``conversation_a``) and the LMSYS competition on Kaggle
(``response_a``).
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_length import WordCounter
from rating.judgements import NOTHING
from rating.stats.style import LENGTH, check_style

STYLE = ("style", "conv_metadata", "conversation_a", "conversation_b", "response_a", "response_b", "words_a", "words_b")
"""Columns that hold style."""

_COUNTS = {
    LENGTH: "sum_assistant_{}_tokens",
    "headers": "header_count_{}",
    "lists": "list_count_{}",
    "bold": "bold_count_{}",
}
"""Names in ``conv_metadata`` by side."""

_TEXTS = ("conversation_{}", "response_{}")

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = {
    "headers": re.compile(r"^[ ]{0,3}#{1,6}[ \t]", re.MULTILINE),
    "lists": re.compile(r"^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}
_WORDS = WordCounter("en")


def read_style(row: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Returns the style in a row of a log, for sides a and b; empty without counts or texts.

    Uses the first of these columns that is present: ``style``, ``conv_metadata``, ``conversation_a`` and ``conversation_b``,
    ``response_a`` and ``response_b``, ``words_a`` and ``words_b``.

    Raises:
        OptionError: if counts are not non-negative numbers.
    """
    if (found := _object(row, "style")) is not None:
        pairs = found
    elif (found := _object(row, "conv_metadata")) is not None:
        pairs = {
            name: tuple(_total(found[column.format(side)]) for side in "ab")
            for name, column in _COUNTS.items()
            if all(found.get(column.format(side)) is not None for side in "ab")
        }
    elif texts := _texts(row):
        return style_of(*texts)
    elif not any(_is_missing(row.get(f"words_{side}")) for side in "ab"):
        pairs = {LENGTH: tuple(_number(row[f"words_{side}"]) for side in "ab")}
    else:
        return {}
    try:
        check_style(pairs)
    except ValueError as error:
        raise OptionError(str(error)) from None
    return {name: (float(one), float(other)) for name, (one, other) in pairs.items()}


def style_of(first: str, second: str) -> dict[str, tuple[float, float]]:
    """Counts words, headers, list entries and bold passages of two texts in Markdown; code blocks count as words only.

    Args:
        first: first text.
        second: second text.

    Returns:
        The ``style`` of a ``Battle``.
    """
    one, other = _counts(first), _counts(second)
    return {name: (one[name], other[name]) for name in one}


def _counts(text: str) -> dict[str, float]:
    prose = _CODE.sub("", text)
    marks = {name: float(len(pattern.findall(prose))) for name, pattern in _MARKS.items()}
    return {LENGTH: _WORDS.words(_WORDS.length(text)), **marks}


def _object(row: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Returns a field with an object, in a table as JSON; ``None`` if it is missing.

    Raises:
        OptionError: if it is not an object.
    """
    value = row.get(name)
    if _is_missing(value):
        return None
    found = _decoded(value) if isinstance(value, str) else value
    if not isinstance(found, Mapping):
        raise OptionError(f"{name}: expected an object, got {str(value)!r:.60}")
    return found


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in NOTHING
    return value is None or (isinstance(value, float) and math.isnan(value))


def _total(value: Any) -> Any:
    """Returns a count, or the sum of counts by kind, e.g. of headers by level."""
    if isinstance(value, Mapping) and all(isinstance(count, int | float) for count in value.values()):
        return float(sum(value.values()))
    return value


def _number(value: Any) -> Any:
    """Returns the number in a table cell."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _texts(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns the answers of both sides over all turns; ``None`` if the row does not hold them."""
    for name in _TEXTS:
        one, other = (_answers(row.get(name.format(side))) for side in "ab")
        if one is not None and other is not None:
            return one, other
    return None


def _answers(value: Any) -> str | None:
    """Returns the answers in a conversation (messages with role and content), a list of answers, or a text."""
    if isinstance(value, np.ndarray):  # from a table read from Parquet
        value = value.tolist()
    if isinstance(value, str):
        found = _decoded(value) if value.startswith("[") else None
        if not isinstance(found, list):
            return value
        value = found
    if not isinstance(value, Sequence) or not value:
        return None
    parts = [part for turn in value for part in _parts(turn)]
    return None if None in parts else "\n".join(map(str, parts))


def _parts(turn: Any) -> list[str | None]:
    """Returns the assistant texts of a turn; ``[None]`` if its form is unknown."""
    if turn is None or isinstance(turn, str):
        return [turn or ""]
    if not isinstance(turn, Mapping) or "role" not in turn:
        return [None]
    if turn["role"] != "assistant":
        return []
    content = turn.get("content")
    content = content.tolist() if isinstance(content, np.ndarray) else content
    if isinstance(content, str):
        return [content]
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        return [part["text"] for part in content if isinstance(part.get("text"), str)]
    return [None]


def _decoded(text: str) -> Any:
    """Returns the value of a JSON text; ``None`` if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
