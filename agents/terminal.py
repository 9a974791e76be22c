"""Texts of models on a person's terminal."""

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all of Unicode's but line end and tab


def printable(text: str) -> str:
    r"""Returns a text that cannot steer the terminal: control characters are written as ``\x1b``."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
