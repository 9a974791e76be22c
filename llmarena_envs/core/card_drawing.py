"""What pictures of card games share: cards from the front, before their marks are put on them, and from the back."""

from llmarena_envs.core.svg import INK, PAPER, Svg

BACK = "#24508f"
ROUND = 6
"""Radius of the corners of a card."""


def draw_blank(svg: Svg, x: float, y: float, width: float, height: float, **attributes: object) -> None:
    """Adds the front of a card without anything on it; attributes are those of its rectangle."""
    svg.rect(x, y, width, height, **{"rx": ROUND, "fill": PAPER, "stroke": INK, "stroke_width": 1, **attributes})


def draw_back(svg: Svg, x: float, y: float, width: float, height: float) -> None:
    """Adds a card from the back."""
    draw_blank(svg, x, y, width, height, fill=BACK)
    svg.rect(x + 4, y + 4, width - 8, height - 8, rx=3, fill="none", stroke=PAPER, stroke_width=1.5)
    right, down = width / 5, width / 3
    start = f"M{x + width / 2:g} {y + height / 2 - down:g}"
    diamond = f"{start}l{right:g} {down:g}l{-right:g} {down:g}l{-right:g} {-down:g}z"
    svg.path(diamond, fill="none", stroke=PAPER, stroke_width=1.5)
