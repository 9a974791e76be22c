"""Where lines, sentences and texts begin and end."""

import re

from llmarena_envs.core.reading.labels import EMBEDDED

MAX_LINES = 1_000
"""Lines that are read, counted from the end, blank ones left out."""

_MAX_SENTENCE = 200
_TEXT = re.compile(rf"[\w{EMBEDDED}]")
_SENTENCE_END = re.compile(r"[.!?;。！？；](?=\s|[^\x00-\x7f]|$)")


def has_text(text: str, start: int, end: int) -> bool:
    """Says whether a part of ``text`` holds a letter, a digit or something embedded."""
    return _TEXT.search(text, start, end) is not None


def last_lines(text: str) -> list[tuple[int, int, bool]]:
    """Returns start, end and whether a blank line stands before it, of the last lines with text."""
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
    """Returns where the line ends in which ``start`` stands."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def lines_end(text: str, end: int, count: int) -> int:
    """Returns where ``count`` lines with text end, the first of which ends at ``end``."""
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
    """Returns what stands before ``position`` in its sentence, not before ``start``."""
    context = text[max(start, position - _MAX_SENTENCE) : position]
    ends = list(_SENTENCE_END.finditer(context))
    return context[ends[-1].end() :] if ends else context
