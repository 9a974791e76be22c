"""A judgement: what one judge says of one case."""

from typing import NamedTuple

FIRST = "A"
SECOND = "B"
TIE = "tie"

PREFERENCES = (FIRST, TIE, SECOND)
"""Verdicts on two sides, from one end of their scale to the other: for the side shown first, a tie, for the other one."""

SCORES = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
"""What they are worth to the side shown first."""

Label = str | float
"""A verdict: one of ``PREFERENCES``, or a number."""


class Judgement(NamedTuple):
    """What one judge says of one case.

    Attributes:
        item: the case: texts that were shown to judges in one order.
        judge: name of the judge.
        final: its verdict, the last one where there are several; ``None`` for an abstention.
        first: its verdict before it had read what others say; ``None`` if there is none, or judges did not discuss.
        again: its verdict on the same texts in the other order, told of the places of this one; ``None`` if there is none.
        players: who is shown first and who second; empty where it is not known.
        words: what judges read of each of them; ``None`` where it is not known.
        contest: name of the texts, the same for cases that show them in different orders; empty where there is one order.
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
        """The name of the texts that are judged: without one, the case has texts of its own."""
        return self.contest or self.item


def exchanged(verdict: Label | None) -> Label | None:
    """Returns a verdict on two sides, told of them in the other order."""
    return {FIRST: SECOND, SECOND: FIRST}.get(verdict, verdict) if isinstance(verdict, str) else verdict
