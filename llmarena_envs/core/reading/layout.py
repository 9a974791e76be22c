"""Bounds of lines, sentences and texts."""

import re

from llmarena_envs.core.reading.labels import EMBEDDED

MAX_LINES = 1_000
"""Maximum number of lines parsed, counted from the end, without blank lines."""

_MAX_SENTENCE = 200
_TEXT = re.compile(rf"[\w{EMBEDDED}]")
_SENTENCE_END = re.compile(r"[.!?;。！？；](?=\s|[^\x00-\x7f]|$)")


def has_text(text: str, start: int, end: int) -> bool:
    """Says whether a part of ``text`` holds a letter, a digit or a masked block."""
    return _TEXT.search(text, start, end) is not None


def last_lines(text: str) -> list[tuple[int, int, bool]]:
    """Returns the last lines with text: start, end and whether a blank line precedes."""
    lines: list[tuple[int, int, bool]] = []
    end = len(text)
    while end >= 0 and len(lines) < MAX_LINES:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            lines.append((start, end, False))
        elif lines:
            lines[-1] = (*lines[-1][:2], True)
        end = start - 1
    lines.reverse()
    return lines


def line_end(text: str, start: int) -> int:
    """Returns the end of the line that contains ``start``."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def lines_end(text: str, end: int, count: int) -> int:
    """Returns the end of ``count`` lines with text, counted from the one that ends at ``end``."""
    lines = 1
    while lines < count and 0 <= end < len(text):
        start = end + 1
        end = line_end(text, start)
        lines += has_text(text, start, end)
    return end


def ends_text(text: str, start: int, count: int) -> bool:
    """Says whether nothing follows the next ``count`` lines."""
    for _ in range(count):
        end = line_end(text, start)
        if not has_text(text, end, len(text)):
            return True
        start = end + 1
    return False


def sentence_before(text: str, position: int, start: int) -> str:
    """Returns the text from the beginning of the sentence, at the earliest ``start``, to ``position``."""
    context = text[max(start, position - _MAX_SENTENCE) : position]
    ends = list(_SENTENCE_END.finditer(context))
    return context[ends[-1].end() :] if ends else context
