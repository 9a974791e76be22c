"""Groups of seats, by seat, role or drawn side, and the measure of a seat."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from llmarena_envs.core.declaration import Verdicts
from rating.store.records import Outcome


class Measure(NamedTuple):
    """A measure of a seat.

    Attributes:
        label: name of the measure.
        value: returns the value of the seat with an index in a match.
        is_share: whether values are in [0, 1] and shown in per cent.
    """

    label: str
    value: Callable[[Outcome, int], float]
    is_share: bool


class SeatGroups(NamedTuple):
    """A way to group the seats of matches.

    Attributes:
        kind: ``seats``, ``roles`` or ``sides``.
        group: returns the group of the seat with an index in a match; ``None`` if it does not count.
        measure: the averaged measure.
        notes: definitions.
        names: groups in the order of the table; by default as they are found.
        counts: whether a match counts.
        alone: whether matches of a policy with itself count for the policy, not only for the group.
    """

    kind: str
    group: Callable[[Outcome, int], str | None]
    measure: Measure
    notes: tuple[str, ...]
    names: Sequence[str] = ()
    counts: Callable[[Outcome], bool] = lambda outcome: True
    alone: bool = False


def score(outcome: Outcome, index: int) -> float:
    """Returns the share of other seats with a lower reward, counting ties as half."""
    own = outcome.seats[index].reward
    others = [seat.reward for place, seat in enumerate(outcome.seats) if place != index]
    return sum(0.5 + 0.5 * ((own > other) - (own < other)) for other in others) / len(others)


SCORE = Measure("score (a tie as half)", score, is_share=True)
WINS = Measure("share of wins", lambda outcome, index: float(outcome.seats[index].reward > 0), is_share=True)
POINTS = Measure("mean score", lambda outcome, index: outcome.seats[index].reward, is_share=False)
REWARD = Measure("mean reward", lambda outcome, index: outcome.seats[index].reward, is_share=False)


def seat(outcome: Outcome, index: int) -> str:
    """Returns the name of a seat."""
    return outcome.seats[index].agent or f"seat {index + 1}"


SEATS = SeatGroups("seats", seat, SCORE, ("score: share of the others at the table who got less, a tie as half",))
"""The standard way: every seat of every match."""


def sides(verdicts: Verdicts) -> SeatGroups:
    """Returns the sides that judges saw players on, which are drawn for every match."""

    def side(outcome: Outcome, index: int) -> str | None:
        return verdicts.labels.get(outcome.seats[index].statistics.get(verdicts.side, -1.0))

    return SeatGroups(
        "sides",
        side,
        SCORE,
        ("score by the side that judges saw a player on, which is drawn for every match; a tie as half",),
    )


def is_alone(outcome: Outcome) -> bool:
    """Returns whether one policy has all seats."""
    return len({seat.policy for seat in outcome.seats}) == 1


def is_common(outcome: Outcome) -> bool:
    """Returns whether all seats received the same reward, as with a common reward."""
    return len({seat.reward for seat in outcome.seats}) == 1
