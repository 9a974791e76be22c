"""Plausible random replies, so that random matches make progress."""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

_CHOICE = re.compile(r"<([^<>]+)>")
_RANGE = re.compile(r"(\d+)-(\d+)|([A-Za-z])-([A-Za-z])")
_NEAR = re.compile(r"(\d+)([~^])(\d+)")


class Sampler:
    """Samples replies of one game.

    Args:
        patterns: replies with choices in angle brackets: ``<0-8>`` is a whole number, ``<a-h>`` a letter, ``<bet|check>`` one of
            the texts. ``<2~1>`` is the character two places before, moved by at most 1, e.g. the row of a neighbour; ``<2^1>`` is
            moved by exactly 1, up or down.
        listed_after: words before a list of legal moves in the text of a position; empty if there are none.
        listed: regular expression of one move of this list; it is used in place of the patterns.
    """

    def __init__(self, patterns: Sequence[str], listed_after: str = "", listed: str = "") -> None:
        self.patterns = tuple(patterns)
        self._listed_after = listed_after
        self._listed = re.compile(listed)

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """One reply of each pattern."""
        rng = np.random.default_rng(0)
        return tuple(_fill(pattern, rng) for pattern in self.patterns)

    def listed_moves(self, text: str) -> list[str]:
        """Returns the moves of the last list in a text."""
        if not self._listed_after or self._listed_after not in text:
            return []
        return self._listed.findall(text[text.rindex(self._listed_after) :])

    def draw(self, rng: np.random.Generator) -> str:
        """Draws a reply from the patterns."""
        return _fill(self.patterns[int(rng.integers(len(self.patterns)))], rng)


def _fill(pattern: str, rng: np.random.Generator) -> str:
    """Returns a pattern with a random choice for each pair of angle brackets."""
    filled, end = "", 0
    for match in _CHOICE.finditer(pattern):
        filled += pattern[end : match.start()]
        filled += _chosen(match[1], filled, rng)
        end = match.end()
    return filled + pattern[end:]


def _chosen(choice: str, before: str, rng: np.random.Generator) -> str:
    """Returns a random text of a choice, after the text before it."""
    near, span = _NEAR.fullmatch(choice), _RANGE.fullmatch(choice)
    if near:
        most = int(near[3])
        shift = int(rng.integers(-most, most, endpoint=True)) if near[2] == "~" else int(rng.choice([-most, most]))
        return chr(ord(before[-int(near[1])]) + shift)
    if span and span[1]:
        return str(rng.integers(int(span[1]), int(span[2]), endpoint=True))
    if span:
        return chr(rng.integers(ord(span[3]), ord(span[4]), endpoint=True))
    texts = choice.split("|")
    return texts[int(rng.integers(len(texts)))]
