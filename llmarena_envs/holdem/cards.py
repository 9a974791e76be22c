"""Playing cards as integers 0..51, ``4 * rank + suit``, and their names such as ``Ah``."""

import re
from collections.abc import Sequence

from llmarena_envs.core.options import OptionError

RANKS = "23456789TJQKA"
SUITS = "cdhs"
CARD_NAMES = tuple(rank + suit for rank in RANKS for suit in SUITS)

_CARDS = {name: card for card, name in enumerate(CARD_NAMES)}
_NAME = re.compile(r"\s*,?\s*(10|[2-9TJQKA])([CDHS♣♦♥♠])", re.IGNORECASE)
_SUIT_SIGNS = str.maketrans("♣♦♥♠", SUITS)


def card_names(cards: Sequence[int]) -> str:
    """Returns the names of the cards, e.g. ``Ah Kd``."""
    return " ".join([CARD_NAMES[card] for card in cards])


def parse_cards(names: str | Sequence[str]) -> tuple[int, ...]:
    """Reads cards.

    Args:
        names: one text such as ``AhKd``, ``Ah Kd`` or ``A♥, 10♦``, or a sequence of such texts.

    Raises:
        OptionError: if a card is unknown or repeated.
    """
    if not isinstance(names, str | list | tuple):
        raise OptionError(f"cards: expected a text or a list of texts, got {names!r}")
    text = (names if isinstance(names, str) else " ".join(map(str, names))).strip()
    cards: list[int] = []
    position = 0
    while position < len(text):
        match = _NAME.match(text, position)
        if match is None:
            raise OptionError(f"cards: expected names such as 'Ah' or 'Td', got {text[position : position + 20]!r}")
        rank = "T" if match[1] == "10" else match[1].upper()
        card = _CARDS[rank + match[2].lower().translate(_SUIT_SIGNS)]
        if card in cards:
            raise OptionError(f"cards: expected every card once, got {CARD_NAMES[card]} twice")
        cards.append(card)
        position = match.end()
    return tuple(cards)
