"""Texts of players on a person's terminal."""

import re
from unicodedata import east_asian_width

# All of Unicode's control characters but line end and tab; marks, embeddings and isolates of bidirectional text; and the
# separators of lines and paragraphs, which are further line ends.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Returns a text that cannot steer the terminal or reorder lines: what could is written as ``\x1b`` or ``\u202e``."""
    return _STEERING.sub(_escaped, text)


def wrapped(text: str, columns: int) -> str:
    """Returns a text with lines of at most ``columns``, broken at blanks and beside ideographs; a longer word stays whole."""
    return "\n".join([part for line in text.split("\n") for part in _parts(line, columns)])


def _parts(line: str, columns: int) -> list[str]:
    parts, start, rest, width = [], 0, 0, 0
    for place, letter in enumerate(line):
        wide = east_asian_width(letter) in "WF"
        if wide and letter.isalnum():
            rest = place if line[start:place].strip() else rest
        width += 1 + wide
        if width > columns and rest > start and letter != " ":
            parts.append(line[start:rest].rstrip(" "))
            start = rest
            width = sum(1 + (east_asian_width(each) in "WF") for each in line[start : place + 1])
        if letter == " " and line[start:place].strip():
            rest = place + 1
    return [*parts, line[start:]]


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
