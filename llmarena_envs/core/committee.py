"""A committee of judges: how often they judge, and how their verdicts make one.

Source: Auto-Arena (arXiv 2405.20267v1, section 3.3): the committee's verdict is that of most of its judges.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.filler import drawn_filler

VERDICTS = ("A", "B", "tie")
"""Verdicts; their places are their numbers in ``infos``."""

NONE = ""
"""What stands for a verdict where there is none."""

_EXCHANGED = {"A": "B", "B": "A"}


class Judgement(NamedTuple):
    """What a judge says.

    Attributes:
        verdict: ``"A"``, ``"B"`` or ``"tie"``.
        text: its words, the verdict included.
    """

    verdict: str
    text: str


class Abstention(NamedTuple):
    """A judge gives no verdict."""


Given = Judgement | Abstention


def exchanged(label: str) -> str:
    """Returns a side or verdict as it is called where A and B have changed their names."""
    return _EXCHANGED.get(label, label)


def verdict_of(given: Given) -> str:
    """Returns the verdict of a judgement, ``NONE`` for an abstention."""
    return given.verdict if isinstance(given, Judgement) else NONE


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


class Committee(NamedTuple):
    """What the judges have given so far.

    They judge all at once, first alone, then as often as they discuss; and all that again if there is a second order of the
    sides, in which A and B have exchanged their names for them.

    Attributes:
        judges: number of judges.
        times: how often they judge in one order: once, and once more for each round of discussion.
        orders: 1, or 2 with the second order.
        quorum: how many of them must give a verdict.
        sessions: what they gave each time, judge by judge, with the names of the sides as they saw them.
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
        """Returns the committee with other judgements where somebody has not read them.

        Args:
            reader: number of the judge who has read its own and, where they were discussed, those of the others; -1 for
                somebody who has read none.
            rng: draws verdicts, all equally likely, and reasons without meaning.
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
        """Whether it has judged as often as it does."""
        return not self.judges or len(self.sessions) == self.times * self.orders

    @property
    def order(self) -> int:
        """Number of the order in which the sides are judged now: 0, or 1 if their names are exchanged."""
        return min(len(self.sessions) // self.times, self.orders - 1)

    @property
    def discusses(self) -> bool:
        """Whether the next session is one of discussion."""
        return len(self.sessions) % self.times > 0

    def first(self, order: int = 0) -> tuple[Given, ...]:
        """Returns what each judge gave before it had read the others; nothing before that."""
        return next(iter(self._sessions(order)), ())

    def last(self, order: int = 0) -> tuple[Given, ...]:
        """Returns what each judge gave last: a judgement that is not given anew stands."""
        return tuple(
            next((given for given in reversed(by_judge) if isinstance(given, Judgement)), Abstention())
            for by_judge in zip(*self._sessions(order), strict=True)
        )

    def _sessions(self, order: int) -> tuple[tuple[Given, ...], ...]:
        return self.sessions[order * self.times : (order + 1) * self.times]

    def first_verdicts(self, order: int = 0) -> tuple[str, ...]:
        """Returns each judge's first verdict, told of the true sides."""
        return _true_verdicts(self.first(order), order)

    def last_verdicts(self, order: int = 0) -> tuple[str, ...]:
        """Returns each judge's last verdict, told of the true sides."""
        return _true_verdicts(self.last(order), order)

    def verdicts_before(self) -> tuple[str, ...]:
        """Returns what each judge's first verdicts come to over the orders; nothing before all are given."""
        return self._over_orders(self.first_verdicts)

    def verdicts(self) -> tuple[str, ...]:
        """Returns what each judge's last verdicts come to over the orders; nothing before all are given."""
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
