"""The outcome of a match: what ratings and tables are computed from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

FINISHED = "finished"
UNDECIDED = "undecided"
VOID = "void"
BUG = "bug"

PLAYED = (FINISHED, UNDECIDED)
"""A match with one of these was played to its end."""

FINAL = (*PLAYED, BUG)
"""A match with one of these is not played again."""


@dataclass(frozen=True)
class SeatOutcome:
    """What one seat of a match came to.

    Attributes:
        policy: name of the policy.
        reward: sum of its rewards.
        turns: turns it took.
        failures: number of replies by name of their failure in lower case (``unparsable``: 2); ``ok`` is not counted.
        forfeit: name of the failure by which this seat forfeited the match, or an empty string.
        reasks: times it was asked again.
        fallbacks: turns that were played for it.
        prompt_tokens: tokens it read.
        completion_tokens: tokens it wrote.
        statistics: the environment's analysis values for this seat at the end.
        agent: id of the seat, whose role is the part before the number.
        rated: whether the seat is compared with others; staff (a judge, say) is not.
        reasoning_tokens: those of the tokens it wrote that are known to be reasoning.
        unknown_usage: replies of which nobody knows how many tokens they took; they add nothing to the sums.
    """

    policy: str
    reward: float
    turns: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    forfeit: str = ""
    reasks: int = 0
    fallbacks: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    statistics: Mapping[str, float] = field(default_factory=dict)
    agent: str = ""
    rated: bool = True
    reasoning_tokens: int = 0
    unknown_usage: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a match came to.

    Attributes:
        environment: module name of the environment.
        number: position in the schedule of its environment.
        seed: seed of the match; matches that share it had the same opening or deal.
        status: ``finished``; or, never rated, ``undecided`` (played to its end without a result, as when every judge abstained),
            ``void`` (a provider failed) or ``bug`` (the environment failed).
        seats: one entry a seat, in seat order.
    """

    environment: str
    number: int
    seed: int
    status: str
    seats: tuple[SeatOutcome, ...]
