"""A judgement: one judge's verdict on one item."""

from typing import NamedTuple

FIRST = "A"
SECOND = "B"
TIE = "tie"

PREFERENCES = (FIRST, TIE, SECOND)
"""Verdicts on two sides: for the side shown first, a tie, for the other side."""

SCORES = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
"""Scores of the side shown first."""

Label = str | float
"""A verdict: one of ``PREFERENCES``, or a number."""


class Judgement(NamedTuple):
    """One judge's verdict on one item.

    Attributes:
        item: texts that were shown to judges in one order.
        judge: name of the judge.
        final: the verdict, the last one if there are several; ``None`` for an abstention.
        first: the verdict before discussion; ``None`` without one.
        again: the verdict on the same texts in the other order, in terms of the positions of this one; ``None`` without one.
        players: shown first and second; empty if unknown.
        words: number of words read of each; ``None`` if unknown.
        contest: name of the texts, shared by items that show them in different orders; empty if there is one order.
    """

    item: str
    judge: str
    final: Label | None
    first: Label | None = None
    again: Label | None = None
    players: tuple[str, str] = ("", "")
    words: tuple[float, float] | None = None
    contest: str = ""

    @property
    def texts(self) -> str:
        """The name of the judged texts, by default the item."""
        return self.contest or self.item


def exchanged(verdict: Label | None) -> Label | None:
    """Returns a verdict on two sides with the positions swapped."""
    return {FIRST: SECOND, SECOND: FIRST}.get(verdict, verdict) if isinstance(verdict, str) else verdict
