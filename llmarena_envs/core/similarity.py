"""Near-duplicate detection of texts, by common n-grams of their letters and digits."""

import re
import unicodedata
from collections.abc import Iterable

PIECE = 4
"""Number of letters and digits of a piece (n-gram)."""

NEAR = 0.7
"""Minimum Jaccard index of two texts' pieces that count as the same."""

_NOT_WORD = re.compile(r"[\W_]+")


def essence(text: str) -> str:
    """Returns the letters and digits of a text, normalized in case and width."""
    return _NOT_WORD.sub("", unicodedata.normalize("NFKC", text).casefold())


def pieces(text: str) -> frozenset[str]:
    """Returns all n-grams of ``PIECE`` letters and digits of a text; a shorter text is one piece."""
    plain = essence(text)
    return frozenset(plain[start : start + PIECE] for start in range(max(1, len(plain) - PIECE + 1)))


class Seen:
    """A collection of texts, for near-duplicate lookup.

    Args:
        texts: initial texts.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._seen: list[frozenset[str]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Adds a text."""
        self._seen.append(pieces(text))

    def __contains__(self, text: object) -> bool:
        """Says whether the collection has a near duplicate of a text."""
        return self.find(str(text)) is not None

    def find(self, text: str) -> int | None:
        """Returns the index of the first near duplicate of a text (Jaccard index of their pieces)."""
        own = pieces(text)
        return next((number for number, other in enumerate(self._seen) if _common(own, other) >= NEAR), None)


def _common(first: frozenset[str], second: frozenset[str]) -> float:
    if min(len(first), len(second)) < NEAR * max(len(first), len(second)):
        return 0.0
    both = len(first & second)
    return both / (len(first) + len(second) - both)
