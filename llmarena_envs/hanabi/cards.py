"""The cards of Hanabi and hint knowledge."""

from collections import Counter
from functools import cache, lru_cache
from typing import NamedTuple

from llmarena_envs.core.options import OptionError

COLORS = ("Red", "Yellow", "Green", "White", "Blue")


class Card(NamedTuple):
    """A card.

    Attributes:
        color: index in ``COLORS``.
        rank: 1 to the highest rank of the game.
    """

    color: int
    rank: int

    @property
    def name(self) -> str:
        """Full name, e.g. ``Red 3``."""
        return f"{COLORS[self.color]} {self.rank}"

    @property
    def code(self) -> str:
        """Short form in deck orders and game logs, e.g. ``R3``."""
        return f"{COLORS[self.color][0]}{self.rank}"


def copies(rank: int, ranks: int) -> int:
    """Returns the number of copies per colour: three of the lowest rank, one of the highest, else two."""
    if rank == 1:
        return 3
    return 1 if rank == ranks else 2


@cache
def full_deck(colors: int, ranks: int) -> tuple[Card, ...]:
    """Returns every card of the game, ordered by colour and rank."""
    return tuple(
        Card(color, rank) for color in range(colors) for rank in range(1, ranks + 1) for _ in range(copies(rank, ranks))
    )


def read_deck(text: object, colors: int, ranks: int) -> tuple[Card, ...]:
    """Reads a deck order such as ``"R1 Y3 R1 ..."``, first dealt card first.

    Raises:
        OptionError: if it is not a permutation of the game's cards.
    """
    cards = full_deck(colors, ranks)
    by_code = {card.code: card for card in cards}
    codes = text.upper().split() if isinstance(text, str) else []
    wanted, given = Counter(card.code for card in cards), Counter(codes)
    if wanted != given:
        missing = " ".join((wanted - given).elements()) or "none"
        surplus = " ".join((given - wanted).elements())[:200] or "none"
        raise OptionError(
            f"deck: expected a text with the codes of all {len(cards)} cards in the order of the deal, such as 'R1 Y3 ...', "
            f"got {str(text)[:200]!r}: missing {missing}; too many {surplus}"
        )
    return tuple(by_code[code] for code in codes)


class Knowledge(NamedTuple):
    """Public hint knowledge about one card in a hand.

    Attributes:
        colors: the possible colours, in ascending order.
        ranks: the possible ranks, in ascending order.
        color_told: whether a hint named this card's colour.
        rank_told: whether a hint named this card's rank.
    """

    colors: tuple[int, ...]
    ranks: tuple[int, ...]
    color_told: bool = False
    rank_told: bool = False

    @property
    def hinted(self) -> bool:
        """Whether a hint ever marked this card."""
        return self.color_told or self.rank_told


@lru_cache(maxsize=4096)
def after_color_hint(known: Knowledge, color: int, marked: bool) -> Knowledge:
    """Returns the knowledge about a card after a hint of ``color`` that did or did not mark it."""
    if marked:
        return known._replace(colors=(color,), color_told=True)
    return known._replace(colors=tuple(other for other in known.colors if other != color))


@lru_cache(maxsize=4096)
def after_rank_hint(known: Knowledge, rank: int, marked: bool) -> Knowledge:
    """Returns the knowledge about a card after a hint of ``rank`` that did or did not mark it."""
    if marked:
        return known._replace(ranks=(rank,), rank_told=True)
    return known._replace(ranks=tuple(other for other in known.ranks if other != rank))
