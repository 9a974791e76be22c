"""One seat's part in a match, and columns shared by several formats.

The type of a column is a type name, a list with the type of its items, or a table with the types of its fields.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.training import Deal
from rating.store.match import Match
from rating.training.conversations import Reply, Seat

MESSAGE: Mapping[str, Any] = {"role": "string", "content": "string"}
"""Type of a message."""


@dataclass(frozen=True)
class Part:
    """One seat's part in a match.

    Attributes:
        match: id of the match.
        policies: policies of its seats, in order.
        deal: columns of the deal.
        seat: messages and replies of the seat.
        policy: policy of the seat.
        reward: total reward in the match.
        won: whether no rated seat received more and one received less.
    """

    match: str
    policies: tuple[str, ...]
    deal: Mapping[str, str]
    seat: Seat
    policy: str
    reward: float
    won: bool

    def origin(self) -> dict[str, Any]:
        """Returns the columns with the origin of a row."""
        return {
            **self.deal,
            "agent": self.seat.agent,
            "policy": self.policy,
            "policies": list(self.policies),
            "match": self.match,
        }


def deal_columns(match: Match) -> dict[str, str]:
    """Returns the columns of the deal of a match, independent of its players.

    Matches with equal columns had the same cards, roles or opening. No seat of the deal has an opponent.

    Raises:
        ValueError: if the match holds values that cannot be written as text.
    """
    deal = Deal(match.environment, match.seed, options=match.options)
    return {"environment": deal.environment, "group": deal.group, "deal": deal.to_json()}


ORIGIN: Mapping[str, Any] = {"environment": "string", "group": "string", "deal": "string"}
"""Types of the columns of ``deal_columns``."""

ORIGIN_OF_PART = {**ORIGIN, "agent": "string", "policy": "string", "policies": ["string"], "match": "string"}
"""Types of the columns of ``Part.origin``."""

REPLIES: Mapping[str, Any] = {
    "turns": ["int32"],
    "kinds": ["string"],
    "rewards": ["float64"],
    "reward": "float64",
    "initial_reward": "float64",
}
"""Types of the columns of ``replies_of``."""


def replies_of(part: Part, replies: Iterable[Reply], *, reasoning: bool) -> dict[str, Any]:
    """Returns the columns with turns, kinds and rewards of replies, and ``reasoning`` if requested."""
    said = list(replies)
    columns: dict[str, Any] = {
        "turns": [reply.turn for reply in said],
        "kinds": [reply.kind.name.lower() for reply in said],
        "rewards": [reply.reward for reply in said],
        "reward": part.reward,
        "initial_reward": part.seat.initial_reward,
    }
    return columns | ({"reasoning": [reply.reasoning for reply in said]} if reasoning else {})
