"""The protocol of a debate: order of speakers, actions and length of each turn.

Source: Auto-Arena (arXiv 2405.20267v1, section 3.2 and figure 2). Each side answers three times, criticizes twice and raises two
requests; a turn with all three actions has twice the budget, so both sides have equal length.
"""

from collections.abc import Sequence
from typing import NamedTuple

SIDES = ("A", "B")
THINK, RESPOND, CRITICIZE, RAISE = "think", "respond", "criticize", "raise"
ACTIONS = (THINK, RESPOND, CRITICIZE, RAISE)

WORDS = 300
LONG_WORDS = 400
LONG_DOMAINS = ("writing", "roleplay", "coding", "humanities")
"""Domains with longer answers."""


class Turn(NamedTuple):
    """A turn of a debate.

    Attributes:
        round: its round, counted from 1.
        side: the speaker, ``"A"`` or ``"B"``.
        actions: the required actions, besides thoughts.
        fresh: whether it is answered without the earlier debate.
    """

    round: int
    side: str
    actions: tuple[str, ...]
    fresh: bool = False


_FIRST_A = Turn(1, "A", (RESPOND,))
_FIRST_B = Turn(2, "B", (RESPOND,), fresh=True)

FIRST_ANSWERS = (_FIRST_A, _FIRST_B)
"""A debate without its battle: both answer the question, neither sees the other's answer."""


def debate_turns(opener: str) -> tuple[Turn, ...]:
    """Returns the nine turns of a debate.

    Args:
        opener: the side that opens the third round.
    """
    other = "B" if opener == "A" else "A"
    return (
        _FIRST_A,
        Turn(1, "B", (CRITICIZE, RAISE)),
        Turn(1, "A", (RESPOND,)),
        _FIRST_B,
        Turn(2, "A", (CRITICIZE, RAISE)),
        Turn(2, "B", (RESPOND,)),
        Turn(3, opener, (CRITICIZE, RAISE)),
        Turn(3, other, (RESPOND, CRITICIZE, RAISE)),
        Turn(3, opener, (RESPOND,)),
    )


def budgets(actions: Sequence[str]) -> int:
    """Returns the number of word budgets of a turn with these actions."""
    return 2 if len(actions) == 3 else 1


def base_words(domain: str) -> int:
    """Returns the words of one budget in a domain, including thoughts."""
    return LONG_WORDS if domain in LONG_DOMAINS else WORDS
