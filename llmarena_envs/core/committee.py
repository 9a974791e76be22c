"""A committee of judges: sessions, and the aggregation of verdicts.

Source: Auto-Arena (arXiv 2405.20267v1, section 3.3): the committee's verdict is the majority verdict.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.filler import drawn_filler

VERDICTS = ("A", "B", "tie")
"""Verdicts; ``infos`` hold their indices."""

NONE = ""
"""A missing verdict."""

_EXCHANGED = {"A": "B", "B": "A"}


class Judgement(NamedTuple):
    """A judgement.

    Attributes:
        verdict: ``"A"``, ``"B"`` or ``"tie"``.
        text: full text, including the verdict.
    """

    verdict: str
    text: str


class Abstention(NamedTuple):
    """An abstention."""


Given = Judgement | Abstention


def exchanged(label: str) -> str:
    """Returns a side or verdict with A and B swapped."""
    return _EXCHANGED.get(label, label)


def verdict_of(given: Given) -> str:
    """Returns the verdict of a judgement, ``NONE`` for an abstention."""
    return given.verdict if isinstance(given, Judgement) else NONE


def over_orders(verdicts: Sequence[str]) -> str:
    """Returns a judge's verdict over all orders of the sides: the verdict if all agree, else a tie.

    ``NONE`` if a verdict is missing in any order.
    """
    if NONE in verdicts:
        return NONE
    return verdicts[0] if len(set(verdicts)) == 1 else "tie"


def plurality(verdicts: Iterable[str], quorum: int) -> str:
    """Returns the most frequent verdict; a tie if it is not unique; ``NONE`` if there are fewer than ``quorum`` verdicts."""
    counts = Counter(verdict for verdict in verdicts if verdict != NONE)
    if counts.total() < quorum:
        return NONE
    (first, most), *others = counts.most_common()
    return "tie" if others and others[0][1] == most else first


class Committee(NamedTuple):
    """The judgements of a committee.

    All judges judge simultaneously, first independently, then once per round of discussion. With a second order, all sessions
    are repeated with A and B swapped.

    Attributes:
        judges: number of judges.
        times: sessions in one order: one, plus one for each round of discussion.
        orders: 1, or 2 with the second order.
        quorum: minimum number of verdicts.
        sessions: judgements of each session, by judge, with the side names of their order.
    """

    judges: int
    times: int
    orders: int
    quorum: int
    sessions: tuple[tuple[Given, ...], ...] = ()

    def joined_by(self, given: tuple[Given, ...]) -> "Committee":
        """Returns the committee after one more session."""
        return self._replace(sessions=(*self.sessions, given))

    def redrawn(self, reader: int, rng: np.random.Generator, *, keep_verdicts: bool) -> "Committee":
        """Returns the committee with the judgements redrawn that a reader has not seen.

        Args:
            reader: index of a judge, who knows its own judgements and, after a discussion, the others'; -1 for a reader
                without any judgements.
            rng: draws uniform verdicts and placeholder reasons.
            keep_verdicts: whether only the reasons change.
        """
        sessions = []
        for number, given in enumerate(self.sessions):
            is_discussed = (number + 1) % self.times > 0
            sessions.append(
                tuple(
                    each if reader >= 0 and (is_discussed or judge == reader) else _redrawn(each, rng, keep_verdicts)
                    for judge, each in enumerate(given)
                )
            )
        return self._replace(sessions=tuple(sessions))

    @property
    def is_done(self) -> bool:
        """Whether all sessions are complete."""
        return not self.judges or len(self.sessions) == self.times * self.orders

    @property
    def order(self) -> int:
        """Index of the current order: 0, or 1 with A and B swapped."""
        return min(len(self.sessions) // self.times, self.orders - 1)

    @property
    def discusses(self) -> bool:
        """Whether the next session is a discussion."""
        return len(self.sessions) % self.times > 0

    def first(self, order: int = 0) -> tuple[Given, ...]:
        """Returns each judge's independent judgement; empty before the first session."""
        return next(iter(self._sessions(order)), ())

    def last(self, order: int = 0) -> tuple[Given, ...]:
        """Returns each judge's last judgement; an abstention does not replace an earlier judgement."""
        return tuple(
            next((given for given in reversed(by_judge) if isinstance(given, Judgement)), Abstention())
            for by_judge in zip(*self._sessions(order), strict=True)
        )

    def _sessions(self, order: int) -> tuple[tuple[Given, ...], ...]:
        return self.sessions[order * self.times : (order + 1) * self.times]

    def first_verdicts(self, order: int = 0) -> tuple[str, ...]:
        """Returns each judge's first verdict on the true sides."""
        return _true_verdicts(self.first(order), order)

    def last_verdicts(self, order: int = 0) -> tuple[str, ...]:
        """Returns each judge's last verdict on the true sides."""
        return _true_verdicts(self.last(order), order)

    def verdicts_before(self) -> tuple[str, ...]:
        """Returns each judge's first verdict, combined over the orders; empty until complete."""
        return self._over_orders(self.first_verdicts)

    def verdicts(self) -> tuple[str, ...]:
        """Returns each judge's last verdict, combined over the orders; empty until complete."""
        return self._over_orders(self.last_verdicts)

    def _over_orders(self, verdicts: Callable[[int], tuple[str, ...]]) -> tuple[str, ...]:
        if not self.is_done:
            return ()
        return tuple(map(over_orders, zip(*map(verdicts, range(self.orders)), strict=True)))

    @property
    def winner_before(self) -> str:
        """The verdict of the committee before any discussion: ``"A"``, ``"B"``, ``"tie"`` or ``NONE``."""
        return plurality(self.verdicts_before(), self.quorum)

    @property
    def winner(self) -> str:
        """The verdict of the committee: ``"A"``, ``"B"``, ``"tie"`` or ``NONE``."""
        return plurality(self.verdicts(), self.quorum)


def _redrawn(given: Given, rng: np.random.Generator, keep_verdict: bool) -> Given:
    if keep_verdict and isinstance(given, Abstention):
        return given
    verdict = verdict_of(given) if keep_verdict else VERDICTS[int(rng.integers(len(VERDICTS)))]
    return Judgement(verdict, f"{drawn_filler('Reasons', rng)} [[{verdict.capitalize()}]]")


def _true_verdicts(given: Iterable[Given], order: int) -> tuple[str, ...]:
    verdicts = tuple(map(verdict_of, given))
    return tuple(map(exchanged, verdicts)) if order else verdicts
