"""Texts of players on a person's terminal."""

import re

# All of Unicode's control characters but line end and tab; marks, embeddings and isolates of bidirectional text; and the
# separators of lines and paragraphs, which are further line ends.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Returns a text that cannot steer the terminal or reorder lines: what could is written as ``\x1b`` or ``\u202e``."""
    return _STEERING.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
