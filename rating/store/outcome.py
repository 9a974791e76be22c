"""The outcome of a match, the input of ratings and tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

FINISHED = "finished"
UNDECIDED = "undecided"
VOID = "void"
BUG = "bug"

PLAYED = (FINISHED, UNDECIDED)
"""Statuses of matches played to the end."""

FINAL = (*PLAYED, BUG)
"""Statuses of matches that are not played again."""


@dataclass(frozen=True)
class SeatOutcome:
    """The outcome of one seat.

    Attributes:
        policy: name of the policy.
        reward: sum of its rewards.
        turns: number of its turns.
        failures: number of replies by failure name in lower case (``unparsable``: 2); ``ok`` is not counted.
        forfeit: name of the failure that forfeited the match, or an empty string.
        reasks: number of repeated requests after an invalid reply.
        fallbacks: number of turns decided by the fallback.
        prompt_tokens: tokens read.
        completion_tokens: tokens written.
        statistics: the environment's analysis values for this seat at the end.
        agent: id of the seat; the part before the number is its role.
        rated: whether the seat is rated; staff, e.g. a judge, is not.
        reasoning_tokens: completion tokens known to be reasoning.
        unknown_usage: number of replies with unknown token usage, which is not part of the sums.
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
    """The outcome of one match.

    Attributes:
        environment: module name of the environment.
        number: position in the schedule of its environment.
        seed: seed of the match; matches with the same seed had the same opening or deal.
        status: ``finished``; or, never rated, ``undecided`` (played to the end without a result, e.g. every judge abstained),
            ``void`` (a provider failed) or ``bug`` (the environment failed).
        seats: one entry per seat, in seat order.
    """

    environment: str
    number: int
    seed: int
    status: str
    seats: tuple[SeatOutcome, ...]
