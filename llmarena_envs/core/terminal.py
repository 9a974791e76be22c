"""Players' texts on a terminal."""

import re
from unicodedata import east_asian_width

# Unicode control characters except line end and tab; marks, embeddings and isolates of bidirectional text; line and paragraph
# separators, which are also line ends.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Returns a text with terminal control and bidirectional characters escaped, e.g. as ``\x1b`` or ``\u202e``."""
    return _STEERING.sub(_escaped, text)


def wrapped(text: str, columns: int) -> str:
    """Returns a text wrapped to ``columns`` at blanks and beside ideographs; a longer word is not broken."""
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
