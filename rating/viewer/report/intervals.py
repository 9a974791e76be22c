"""Interval plot as SVG without inline styles, for pages whose content security policy forbids them."""

import math

from llmarena_envs.core.svg import DIM, LINE, Svg
from rating.schemes.figures import Intervals
from rating.viewer.report.names import shortened

_WIDTH = 640
_ROW = 24
_TOP = 12
_BOTTOM = 44
_LEFT = 220
_RIGHT = 20
_ROOM_FOR_NAMES = 26
"""Columns for a policy name; the table has the full name."""
_TICKS = 6
_COLOUR = "#0550ae"


def plot_intervals(figure: Intervals, environment: str) -> str:
    """Draws a value with its interval for every policy, the best on top. Open ends are arrows.

    Args:
        figure: values with intervals.
        environment: environment name.
    """
    rows = figure.rows
    height = _TOP + _ROW * len(rows) + _BOTTOM
    names = shortened([row[0] for row in rows], _ROOM_FOR_NAMES)
    svg = Svg(_WIDTH, height, f"{environment}: {figure.label}", "The table above has the same values.")
    known = [value for row in rows for value in row[1:] if value is not None and math.isfinite(value)]
    ticks = _round_numbers(min(known, default=0.0), max(known, default=1.0))
    low, high = ticks[0], ticks[-1]

    def place(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    bottom = _TOP + _ROW * len(rows)
    for tick in ticks:
        svg.line(place(tick), _TOP, place(tick), bottom, stroke=LINE)
        svg.text(place(tick), bottom + 16, f"{tick:g}", 12, text_anchor="middle", fill=DIM)
    svg.text((_LEFT + _WIDTH - _RIGHT) / 2, bottom + 36, figure.label, 12, text_anchor="middle", fill=DIM)
    for number, (_, value, lower, upper) in enumerate(rows):
        y = _TOP + _ROW * (number + 0.5)
        svg.text(_LEFT - 10, y + 5, names[number], 13, text_anchor="end")
        begin, end = (place(low) if lower is None else place(lower), place(high) if upper is None else place(upper))
        svg.line(begin, y, end, y, stroke=_COLOUR, stroke_width=2)
        for x, bound, way in ((begin, lower, 6), (end, upper, -6)):
            if bound is None:
                svg.path(
                    f"M{x + way:.2f} {y - 5:.2f}L{x:.2f} {y:.2f}L{x + way:.2f} {y + 5:.2f}", stroke=_COLOUR, fill="none"
                )
            else:
                svg.line(x, y - 4, x, y + 4, stroke=_COLOUR, stroke_width=2)
        svg.circle(place(value), y, 4, fill=_COLOUR)
    return str(svg)


def _round_numbers(low: float, high: float) -> list[float]:
    """Returns evenly spaced round tick values that cover ``low`` to ``high``."""
    if high <= low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / (_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    first = math.floor(low / step)
    count = math.ceil(high / step) - first
    return [(first + number) * step for number in range(count + 1)]
