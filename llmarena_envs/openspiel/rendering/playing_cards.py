"""Reading of playing cards, written rank first: ``QS`` is the queen of spades, ``TD`` the ten of diamonds."""

import re
from collections.abc import Iterable, Sequence

from llmarena_envs.openspiel.rendering.reading import Turn, listed, turns

SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
"""Names of the suits by letter."""

_HAND = re.compile(r"^(?:([CDHS])| +([CDHS]):) ([2-9TJQKA]*)(?:none)? *$", re.MULTILINE)
_SUIT_FIRST = re.compile(r"\b([CDHS])([2-9TJQKA])\b")


def rank_first(text: str) -> str:
    """Returns a text with every card such as ``SQ`` written as ``QS``."""
    return _SUIT_FIRST.sub(r"\2\1", text)


def suits(text: str) -> list[str]:
    """Returns the cards of lines such as ``S KQ2`` or ``    S: KQ2``, one text for each suit that is held."""
    hands = [(suit or indented, ranks) for suit, indented, ranks in _HAND.findall(text)]
    return [" ".join(rank + suit for rank in ranks) for suit, ranks in hands if ranks]


def by_suit(cards: Iterable[str]) -> str:
    """Returns cards in one line, the suits apart."""
    groups: dict[str, list[str]] = {}
    for card in cards:
        groups.setdefault(card[-1], []).append(card)
    return listed([" ".join(group) for group in groups.values()])


def tricks(text: str, seats: Sequence[str], players: int) -> list[list[Turn]]:
    """Returns the cards of each trick with their players.

    Args:
        text: text with a table of tricks, whose head names the players from the first, and all but the last once more.
        seats: the names of the players in the head.
        players: number of players.
    """
    head = re.escape("  ".join([*seats, *seats[:-1]]))
    found = re.search(rf"^{head} *\n((?:.*\S.*\n?)*)", text, re.MULTILINE)
    rows = found[1].splitlines() if found else []
    return [_trick(row, players) for row in rows]


def _trick(row: str, players: int) -> list[Turn]:
    """Returns the cards of a row; each column of three characters belongs to a player."""
    return [(found.start() // 3 % players, rank_first(found[0])) for found in re.finditer(r"\S+", row)]


def trick_lines(played: Sequence[Sequence[Turn]]) -> list[str]:
    """Returns a line for each trick."""
    return [f"Trick {number}: {turns(trick)}" for number, trick in enumerate(played, 1)]
