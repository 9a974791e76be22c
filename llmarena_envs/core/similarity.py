"""When two texts are nearly the same: by their letters and digits, or by most of the pieces these consist of."""

import re
import unicodedata
from collections.abc import Iterable

PIECE = 4
"""Letters and digits of a piece."""

NEAR = 0.7
"""Share of common pieces, of all that two texts have, from which they count as the same."""

_NOT_WORD = re.compile(r"[\W_]+")


def essence(text: str) -> str:
    """Returns the letters and digits of a text, without differences of case and width."""
    return _NOT_WORD.sub("", unicodedata.normalize("NFKC", text).casefold())


def pieces(text: str) -> frozenset[str]:
    """Returns all runs of ``PIECE`` letters and digits of a text; of a shorter one itself."""
    plain = essence(text)
    return frozenset(plain[start : start + PIECE] for start in range(max(1, len(plain) - PIECE + 1)))


class Seen:
    """Texts that were seen.

    Args:
        texts: the first of them.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._seen: list[frozenset[str]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Adds a text."""
        self._seen.append(pieces(text))

    def __contains__(self, text: object) -> bool:
        """Says whether a text is one of them, or nearly so."""
        return self.find(str(text)) is not None

    def find(self, text: str) -> int | None:
        """Returns the number, from 0, of the first one that is the text, or nearly so (Jaccard's index of their pieces)."""
        own = pieces(text)
        return next((number for number, other in enumerate(self._seen) if _common(own, other) >= NEAR), None)


def _common(first: frozenset[str], second: frozenset[str]) -> float:
    if min(len(first), len(second)) < NEAR * max(len(first), len(second)):
        return 0.0
    both = len(first & second)
    return both / (len(first) + len(second) - both)
