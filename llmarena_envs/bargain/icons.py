"""Icons of hats, balls and apples, different in shape and colour."""

from llmarena_envs.core.svg import INK, PAPER, Svg

SIZE = 20
"""Width and height of an item, in pixels."""


def _hat(svg: Svg, x: float, y: float) -> None:
    svg.rect(x + 5, y + 2, 10, 12, fill=INK, rx=2)
    svg.rect(x + 5, y + 10, 10, 3, fill="#d4a72c")
    svg.rect(x + 1, y + 14, 18, 3, fill=INK, rx=1.5)


def _ball(svg: Svg, x: float, y: float) -> None:
    svg.circle(x + 10, y + 10, 8.5, fill="#bc4c00")
    svg.path(
        f"M {x + 1.5:g} {y + 10:g} h 17 M {x + 10:g} {y + 1.5:g} v 17", stroke=PAPER, fill="none", stroke_width=1.5
    )


def _apple(svg: Svg, x: float, y: float) -> None:
    svg.circle(x + 7.5, y + 12, 6, fill="#cf222e")
    svg.circle(x + 12.5, y + 12, 6, fill="#cf222e")
    svg.line(x + 10, y + 8, x + 11, y + 2, stroke="#805900", stroke_width=2)
    svg.path(f"M {x + 11:g} {y + 5:g} q 4 -5 7 -2 q -3 4 -7 2", fill="#1a7f37")


ICONS = (_hat, _ball, _apple)
"""Functions that draw an item of each kind, given its upper left corner."""
