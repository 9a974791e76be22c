"""The numbered actions of Hanabi."""

from enum import Enum
from functools import cache
from typing import NamedTuple


class Kind(Enum):
    """The effect of an action."""

    DISCARD = "discard"
    PLAY = "play"
    REVEAL_COLOR = "reveal colour"
    REVEAL_RANK = "reveal rank"


class Action(NamedTuple):
    """A numbered action.

    Attributes:
        kind: the effect.
        value: the position in the own hand, counted from 0; or the index of the colour; or the rank.
        offset: seats from the actor to the receiver of a hint; 0 for discards and plays.
    """

    kind: Kind
    value: int
    offset: int = 0


@cache
def all_actions(players: int, colors: int, ranks: int, hand_size: int) -> tuple[Action, ...]:
    """Returns every action of a game in the order of OpenSpiel's hanabi.

    Discards by position, plays by position, colour hints by receiver and colour, rank hints by receiver and rank.
    """
    offsets = range(1, players)
    return (
        *(Action(Kind.DISCARD, position) for position in range(hand_size)),
        *(Action(Kind.PLAY, position) for position in range(hand_size)),
        *(Action(Kind.REVEAL_COLOR, color, offset) for offset in offsets for color in range(colors)),
        *(Action(Kind.REVEAL_RANK, rank, offset) for offset in offsets for rank in range(1, ranks + 1)),
    )
