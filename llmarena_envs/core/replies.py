"""Reading replies: one place for notation that every game reads tolerantly."""

import json
import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from typing import Any

MAX_REPLY = 100_000
"""Characters of a reply that are read; a move is stated at the end, so the beginning of a longer one is dropped."""

_REASONING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_OF_REASONING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_CJK_BRACKETS = str.maketrans("【】〔〕［］（）「」『』", '[][][]()""""')
_JSON_STARTS = re.compile(r"\{")
_MAX_JSON_STARTS = 200
# One for all calls: a decoder is a reference cycle, which only the garbage collector can free.
_DECODER = json.JSONDecoder()


def read_part(reply: str) -> str:
    """Returns the part of a reply that is read: what stands behind the reasoning in ``<think>`` tags, if there is any.

    Moves that a model weighs there are not stated, and what it says there is for nobody else. Servers that put the opening
    tag into the prompt send the closing one only; reasoning that was cut off has no closing one. Only the last ``MAX_REPLY``
    characters are kept, so the cost is bounded for a reply of any length.
    """
    text = reply[-MAX_REPLY:]
    if "<" not in text:
        return text
    end = last_match(_END_OF_REASONING, text)
    if end:
        text = text[end.end() :]
    return _REASONING.split(text, maxsplit=1)[0]


def normalise(reply: str) -> str:
    """Returns the ``read_part`` with full-width characters narrowed, code fences and Markdown emphasis taken off."""
    text = read_part(reply)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_CJK_BRACKETS)
    if "`" in text or "~~~" in text:
        text = _FENCE.sub("", text).replace("`", "")
    return text.replace("**", "").strip()


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Returns the last non-overlapping match of ``pattern`` in ``text``."""
    matches = deque(pattern.finditer(text), maxlen=1)
    return matches[0] if matches else None


def json_objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields every outermost JSON object in ``text`` with the position of its end, in order.

    At most the last 200 opening braces are tried, so that hostile text cannot make this slow.
    """
    starts = [match.start() for match in _JSON_STARTS.finditer(text)][-_MAX_JSON_STARTS:]
    done = 0
    for start in starts:
        if start < done:
            continue
        try:
            value, done = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield done, value
