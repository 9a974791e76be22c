"""Texts that are written once and told again and again."""

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Text = TypeVar("Text")


class Phrases(dict[Key, Text]):
    """Pieces of text that recur from turn to turn and from match to match, each written when it is first needed.

    Args:
        write: makes the text of a key.
        limit: number of pieces that are kept; beyond it all are dropped, and those still in use are written again.
    """

    def __init__(self, write: Callable[[Key], Text], limit: int = 4096) -> None:
        self._write = write
        self._limit = limit

    def __missing__(self, key: Key) -> Text:
        text = self._write(key)
        if len(self) >= self._limit:
            self.clear()
        self[key] = text
        return text
