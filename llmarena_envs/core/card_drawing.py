"""Shared parts of drawings of card games: blank card fronts and card backs."""

from llmarena_envs.core.svg import INK, PAPER, Svg

BACK = "#24508f"
ACTS = "#0969da"
"""Border colour of the player to move and of clickable elements."""

CHOICE = "#ddf4ff"
"""Background colour of clickable elements."""

ROUND = 6
"""Radius of the corners of a card."""


def draw_blank(svg: Svg, x: float, y: float, width: float, height: float, **attributes: object) -> None:
    """Adds a blank card front; attributes are passed to its rectangle."""
    svg.rect(x, y, width, height, **{"rx": ROUND, "fill": PAPER, "stroke": INK, "stroke_width": 1, **attributes})


def draw_back(svg: Svg, x: float, y: float, width: float, height: float) -> None:
    """Adds the back of a card."""
    draw_blank(svg, x, y, width, height, fill=BACK)
    svg.rect(x + 4, y + 4, width - 8, height - 8, rx=3, fill="none", stroke=PAPER, stroke_width=1.5)
    right, down = width / 5, width / 3
    start = f"M{x + width / 2:g} {y + height / 2 - down:g}"
    diamond = f"{start}l{right:g} {down:g}l{-right:g} {down:g}l{-right:g} {-down:g}z"
    svg.path(diamond, fill="none", stroke=PAPER, stroke_width=1.5)
