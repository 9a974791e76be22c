"""Draws Hanabi cards; colours also have letters, for colour-blind readers."""

from llmarena_envs.core.card_drawing import draw_back, draw_blank
from llmarena_envs.core.svg import DIM, INK, PAPER, Svg
from llmarena_envs.hanabi.cards import COLORS, Card, Knowledge

CARD_WIDTH = 58
CARD_HEIGHT = 78

_RED, _YELLOW, _GREEN, _WHITE, _BLUE = "#cf222e", "#f2c744", "#1a7f37", "#ffffff", "#0969da"
FILLS = ((_RED, PAPER), (_YELLOW, INK), (_GREEN, PAPER), (_WHITE, INK), (_BLUE, PAPER))
"""The fill and ink of each colour."""

LETTERS = tuple(color[0] for color in COLORS)


def draw_card(svg: Svg, x: float, y: float, card: Card) -> None:
    """Adds a card face up."""
    fill, ink = FILLS[card.color]
    draw_blank(svg, x, y, CARD_WIDTH, CARD_HEIGHT, fill=fill)
    svg.text(x + 7, y + 19, LETTERS[card.color], 15, fill=ink, font_weight="bold")
    svg.text(x + CARD_WIDTH / 2, y + 58, str(card.rank), 38, fill=ink, text_anchor="middle", font_weight="bold")


def draw_small_card(svg: Svg, x: float, y: float, card: Card) -> None:
    """Adds a card 24 pixels wide, for cards out of the game."""
    fill, ink = FILLS[card.color]
    draw_blank(svg, x, y, 24, 26, fill=fill, rx=4)
    svg.text(x + 12, y + 19, str(card.rank), 16, fill=ink, text_anchor="middle", font_weight="bold")


def draw_hidden_card(svg: Svg, x: float, y: float, known: Knowledge) -> None:
    """Adds a card face down, with colour and rank once known."""
    draw_back(svg, x, y, CARD_WIDTH, CARD_HEIGHT)
    if len(known.colors) == 1:
        draw_color(svg, x + 18, y + 22, known.colors[0], 12)
    if len(known.ranks) == 1:
        draw_rank(svg, x + CARD_WIDTH - 18, y + CARD_HEIGHT - 22, known.ranks[0], 12)


def draw_color(svg: Svg, x: float, y: float, color: int, radius: float) -> None:
    """Adds a colour as a round token with its letter."""
    fill, ink = FILLS[color]
    svg.circle(x, y, radius, fill=fill, stroke=INK)
    svg.text(x, y + 5, LETTERS[color], 14, fill=ink, text_anchor="middle", font_weight="bold")


def draw_rank(svg: Svg, x: float, y: float, rank: int, radius: float) -> None:
    """Adds a rank as a square token."""
    svg.rect(x - radius, y - radius, 2 * radius, 2 * radius, rx=4, fill=PAPER, stroke=INK)
    svg.text(x, y + 5, str(rank), 15, text_anchor="middle", font_weight="bold")


def draw_knowledge(svg: Svg, x: float, y: float, known: Knowledge) -> None:
    """Adds the possible colours and ranks below a card; hinted ones are bold."""
    lines = (
        ("".join([LETTERS[color] for color in known.colors]), known.color_told),
        ("".join(map(str, known.ranks)), known.rank_told),
    )
    for number, (text, told) in enumerate(lines):
        weight, ink = ("bold", INK) if told else (None, DIM)
        svg.text(x + CARD_WIDTH / 2, y + 15 + 16 * number, text, 15, fill=ink, text_anchor="middle", font_weight=weight)
