"""How the verdicts of judges make one: orders, plurality, quorum.

Source: Auto-Arena (arXiv 2405.20267, section 3.3): the committee's verdict is that of most of its judges.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

VERDICTS = ("A", "B", "tie")
"""Verdicts; their places are their numbers in ``infos``."""

NONE = ""
"""What stands for a verdict where there is none."""

_EXCHANGED = {"A": "B", "B": "A"}


class Judgement(NamedTuple):
    """What a judge says.

    Attributes:
        verdict: ``"A"``, ``"B"`` or ``"tie"``.
        text: its words, the verdict in brackets included.
        several: whether it names other verdicts in brackets too.
        single_brackets: whether the verdict stands in single brackets.
    """

    verdict: str
    text: str
    several: bool = False
    single_brackets: bool = False


class Abstention(NamedTuple):
    """A judge gives no verdict."""


Given = Judgement | Abstention


def exchanged(label: str) -> str:
    """Returns a side or verdict as it is called where A and B have changed their names."""
    return _EXCHANGED.get(label, label)


def verdict_of(given: Given) -> str:
    """Returns the verdict of a judgement, ``NONE`` for an abstention."""
    return given.verdict if isinstance(given, Judgement) else NONE


def last_verdict(verdicts: Iterable[str]) -> str:
    """Returns the last verdict that a judge gave: one that it does not give anew stands."""
    return next((verdict for verdict in reversed(tuple(verdicts)) if verdict != NONE), NONE)


def over_orders(verdicts: Sequence[str]) -> str:
    """Returns what a judge's verdicts in several orders of the sides come to: the one given in all, else a tie.

    A judge that gave none in one of them has none.
    """
    if NONE in verdicts:
        return NONE
    return verdicts[0] if len(set(verdicts)) == 1 else "tie"


def plurality(verdicts: Iterable[str], quorum: int) -> str:
    """Returns the verdict given most often; a tie if several are; ``NONE`` if fewer than ``quorum`` are given."""
    counts = Counter(verdict for verdict in verdicts if verdict != NONE)
    if counts.total() < quorum:
        return NONE
    (first, most), *others = counts.most_common()
    return "tie" if others and others[0][1] == most else first
