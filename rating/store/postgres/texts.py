"""Escapes the NUL character, which PostgreSQL cannot store in text."""

from typing import Any

_ESCAPE = "\x1a"


def to_stored(value: Any) -> Any:
    """Returns the escaped value."""
    if isinstance(value, str) and ("\0" in value or _ESCAPE in value):
        return value.replace(_ESCAPE, _ESCAPE + "1").replace("\0", _ESCAPE + "0")
    return value


def from_stored(value: Any) -> Any:
    """Returns the unescaped value."""
    if isinstance(value, str) and _ESCAPE in value:
        return value.replace(_ESCAPE + "0", "\0").replace(_ESCAPE + "1", _ESCAPE)
    return value
