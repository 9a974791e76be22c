"""Draws playing cards: suits differ in shape and colour, and need no font."""

from llmarena_envs.core.card_drawing import draw_blank
from llmarena_envs.core.svg import INK, Svg
from llmarena_envs.holdem.cards import RANKS

CARD_WIDTH = 46
CARD_HEIGHT = 64

_RED = "#c1121f"

# Around (0, 0), about 20 pixels high: clubs, diamonds, hearts, spades.
_SUITS = (
    (
        INK,
        "M0-10a4.7 4.7 0 0 1 3.7 7.6a4.7 4.7 0 1 1-2.3 6.6L3.2 10H-3.2L-1.4 4.2a4.7 4.7 0 1 1-2.3-6.6A4.7 4.7 0 0 1 0-10z",
    ),
    (_RED, "M0-10.5L7.8 0 0 10.5-7.8 0z"),
    (_RED, "M0 10C-13 0-10.5-9-5.3-9C-2.4-9-.5-7 0-4.8C.5-7 2.4-9 5.3-9C10.5-9 13 0 0 10z"),
    (
        INK,
        "M0-10.5C11-1.5 10 5.5 5.2 5.5C3.2 5.5 1.8 4.7 1 3.6L3.2 10H-3.2L-1 3.6C-1.8 4.7-3.2 5.5-5.2 5.5C-10 5.5-11-1.5 0-10.5z",
    ),
)


def draw_card(svg: Svg, x: float, y: float, card: int) -> None:
    """Adds a card, ``4 * rank + suit`` as in ``cards``."""
    rank, suit = divmod(card, 4)
    colour, shape = _SUITS[suit]
    draw_blank(svg, x, y, CARD_WIDTH, CARD_HEIGHT)
    name = RANKS[rank].replace("T", "10")
    svg.text(x + 6, y + 24, name, 21, fill=colour, font_weight="bold")
    svg.path(shape, fill=colour, transform=f"translate({x + CARD_WIDTH - 17:g} {y + CARD_HEIGHT - 18:g}) scale(1.2)")
