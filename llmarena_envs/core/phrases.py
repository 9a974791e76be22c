"""Cache of recurring texts."""

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Text = TypeVar("Text")


class Phrases(dict[Key, Text]):
    """A cache of recurring pieces of text, each created on first use.

    Args:
        write: creates the text of a key.
        limit: maximum number of cached texts; the cache is cleared when it is full.
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
