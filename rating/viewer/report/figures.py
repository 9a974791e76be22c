"""Figures of the report and the board, as SVG without inline styles, for pages whose content security policy forbids them.

Every colour is a group with a class, and everything in it is drawn in ``currentColor``. A page colours the classes by its theme
(``bundle/colours.css``); a file has the light colours, from the attribute ``color`` of the group.
"""

import itertools
import textwrap
from collections.abc import Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

from llmarena_envs.core import svg as pictures
from llmarena_envs.core.svg import Svg, round_numbers, text_width
from rating.schemes.figures import Groups, Intervals, Matrix, Shares, Trajectories
from rating.stats.agreement import Agreement
from rating.stats.calibration import Calibration
from rating.viewer.report.names import shortened

MOST_ROWS = 200
"""Maximum number of policies in a figure; the table has all."""

MOST_IN_A_MAP = 60
"""Maximum number of policies in a heat map; with more it is omitted."""

_MOST_NUMBERED = 30
"""Maximum number of policies in a heat map with numbers."""

_MAX_STEPS = 350
"""Maximum steps of a line: about one per two pixels."""

_ROOM_FOR_NAMES = 40
"""Maximum columns of a name beside a row; the table has the full name."""

_ROOM_IN_MAPS = 20
"""Maximum columns of a name beside a heat map."""

_WIDTH = 720
"""Width of most figures, in pixels as all lengths."""

_BAR = 150
"""Width of an interval in a table."""

_ROW = 24
_TOP = 12
_RIGHT = 20
_BELOW = 44
"""Height of tick labels and label below an axis."""
_SMALL = 12
"""Size of small letters."""


class Colour(NamedTuple):
    """A colour of figures: its class in a page, and the light variant."""

    name: str
    light: str


PAPER = Colour("fig-paper", pictures.PAPER)
INK = Colour("fig-ink", pictures.INK)
DIM = Colour("fig-dim", pictures.DIM)
LINE = Colour("fig-line", pictures.LINE)
LOW, HIGH = Colour("fig-low", "#d55e00"), Colour("fig-high", "#0072b2")
"""Ends of the scale of a heat map."""

SERIES = tuple(
    Colour(f"series-{number}", light)
    for number, light in enumerate(("#0060a8", "#d55e00", "#00543b", "#8f2f78", "#3f98c6", "#8a8a8a"))
)
"""Hues of Okabe and Ito, with the lightness changed for contrast and for viewers who see few hues."""


class _Tint(NamedTuple):
    """Colour of a cell on the paper of the theme."""

    colour: Colour
    opacity: float


_DASHES = (None, "6 3", "2 2", "8 3 2 3")
"""Line styles; each is used for one line per colour."""


_CURRENT = "currentColor"


class _Figure(Svg):
    """A drawing on paper, with shapes in the colour of their group."""

    def __init__(self, width: float, height: float, title: str, description: str = "") -> None:
        super().__init__(width, height, title, description, fill="")
        with self.coloured(PAPER):
            self.rect(0, 0, width, height, fill=_CURRENT, rx=8)

    def coloured(self, colour: Colour) -> AbstractContextManager[None]:
        """Groups the elements added inside the context in a colour."""
        return self.group(**{"class": colour.name, "color": colour.light})

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: object) -> None:
        """Adds a line."""
        super().line(x1, y1, x2, y2, **{"stroke": _CURRENT, **attributes})

    def text(self, x: float, y: float, text: str, size: float = 16, **attributes: object) -> None:
        """Adds a line of text."""
        super().text(x, y, text, size, **{"fill": _CURRENT, **attributes})


@dataclass(frozen=True)
class _Axis:
    """Places of values from the first to the last tick, between two pixels."""

    ticks: Sequence[float]
    begin: float
    end: float

    def place(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.begin + (value - low) / (high - low) * (self.end - self.begin)


def intervals(shown: Intervals, title: str) -> str:
    """Draws a value with its interval for every policy, the best on top. Open ends are arrows."""
    rows = shown.rows[:MOST_ROWS]
    values = [value for row in rows for value in row[1:] if value is not None]
    svg, axis, places = _rows([row[0] for row in rows], values, _labelled(shown.label, rows, shown.rows), title)
    with svg.coloured(SERIES[0]):
        for y, (_, value, low, high) in zip(places, rows, strict=True):
            _interval(svg, axis, y, (value, low, high))
    return str(svg)


def bars(values: Sequence[tuple[float, float | None, float | None] | None]) -> list[str]:
    """Draws each value with its interval as a line of a table, in the colour of its text, all on one scale.

    Args:
        values: value, lower and upper end, ``None`` if the end is open; ``None`` for no figure.
    """
    ends = {end for value in values if value is not None for end in value if end is not None}
    if len(ends) < 2:
        return ["" for _ in values]
    axis = _Axis([min(ends), max(ends)], 6, _BAR - 6)
    return ["" if value is None else _bar(axis, value) for value in values]


def _bar(axis: _Axis, value: tuple[float, float | None, float | None]) -> str:
    svg = Svg(_BAR, 14, "interval", fill="")
    _interval(svg, axis, 7, value)
    return str(svg)


def groups(shown: Groups, title: str) -> str:
    """Draws one value with interval per part for every policy, one colour per part."""
    parts, rows = len(shown.parts), shown.rows[:MOST_ROWS]
    values = [end for _, cells in rows for cell in cells if cell for end in cell[:3] if end is not None]
    label, height = _labelled(shown.label, rows, shown.rows), max(_ROW, 11 * (parts + 1))
    svg, axis, places = _rows([name for name, _ in rows], values, label, title, height, shown.parts)
    for part in range(parts):
        with svg.coloured(_series(part)):
            for y, (_, cells) in zip(places, rows, strict=True):
                if (cell := cells[part]) is not None:
                    _interval(svg, axis, y + (part - (parts - 1) / 2) * height / (parts + 1), cell[:3])
    return str(svg)


def shares(shown: Shares, title: str) -> str:
    """Draws stacked bars for every policy."""
    rows = shown.rows[:MOST_ROWS]
    values = [0.0, *(sum(sizes) for _, sizes in rows)]
    label = _labelled(shown.label, rows, shown.rows)
    svg, axis, places = _rows([name for name, _ in rows], values, label, title, legend=shown.parts)
    ends = [[*map(axis.place, itertools.accumulate(sizes, initial=0.0))] for _, sizes in rows]
    for part in range(len(shown.parts)):
        with svg.coloured(_series(part)):
            for y, own in zip(places, ends, strict=True):
                svg.rect(own[part], y - 8, own[part + 1] - own[part], 16, fill=_CURRENT)
    return str(svg)


def trajectories(shown: Trajectories, title: str) -> str:
    """Draws a rating or mean after every match, with a band of one standard deviation or error.

    The legend is ordered by the last value, highest first.
    """
    history = {name: _thinned(steps) for name, steps in shown.history.items()}
    last = sorted(history.items(), key=lambda item: -item[1][-1][1])[:MOST_ROWS]
    legend = shortened([name for name, _ in last], _ROOM_FOR_NAMES)
    height = max(300, _ROW + _legend_height(legend))
    svg = _Figure(_WIDTH + _legend_width(legend), height, title)
    points = [step for _, steps in last for step in steps]
    numbers = [number for number, _, _ in points]
    ends = [mean + sign * sd for _, mean, sd in points for sign in (-1, 1)]
    across = _Axis(round_numbers(numbers, whole=True), 76, _WIDTH - _RIGHT)
    up = _Axis(round_numbers(ends), height - _BELOW, _TOP)
    _draw_across(svg, across, _TOP, height - _BELOW, _labelled("match number", last, shown.history))
    _draw_up(svg, up, across.begin, across.end, shown.label)
    for index, (_, steps) in enumerate(last):
        xs = [across.place(number) for number, _, _ in steps]
        below, middle, above = ([up.place(mean + sign * sd) for _, mean, sd in steps] for sign in (-1, 0, 1))
        band = _line([*xs, *xs[::-1]], [*above, *below[::-1]])
        with svg.coloured(_series(index)):
            svg.path(f"{band}Z", fill=_CURRENT, fill_opacity=0.15)
            dash = _DASHES[index // len(SERIES) % len(_DASHES)]
            svg.path(_line(xs, middle), fill="none", stroke=_CURRENT, stroke_width=1.6, stroke_dasharray=dash)
    _draw_legend(svg, legend, _WIDTH, dashes=_DASHES)
    return str(svg)


def calibration(shown: Calibration, title: str) -> str:
    """Draws observed against predicted scores, and below them the number of results per group."""
    width, bottom, height = 480, 320, 440
    svg = _Figure(width, height, title)
    across = _Axis([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], 76, width - _RIGHT)
    up = _Axis([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], bottom, _TOP)
    _draw_across(svg, across, _TOP, height - _BELOW, "predicted score of the favourite")
    _draw_up(svg, up, across.begin, across.end, "observed score of the favourite")
    counts = _Axis(round_numbers([0, *(group.observed.n for group in shown.groups)], 2), height - _BELOW, bottom + 16)
    _draw_up(svg, counts, across.begin, across.end, "results")
    with svg.coloured(DIM):
        svg.line(across.begin, up.place(0.5), across.end, up.place(1), stroke_dasharray="6 3")
    with svg.coloured(SERIES[0]):
        for group in shown.groups:
            x, value = across.place(group.predicted), group.observed
            if value.low is not None and value.high is not None:
                svg.line(x, up.place(value.low), x, up.place(value.high), stroke_width=2)
            svg.circle(x, up.place(value.value), 4, fill=_CURRENT)
            top = counts.place(value.n)
            svg.rect(x - 7, top, 14, counts.begin - top, fill=_CURRENT)
    return str(svg)


def matrix(shown: Matrix, title: str) -> str:
    """Draws a heat map of a value for every two policies, with numbers for small maps."""
    names = list(shown.table)
    scale = 100 if shown.percent else 1
    cells = [[None if cell is None else scale * cell.value for cell in row.values()] for row in shown.table.values()]
    known = [value for row in cells for value in row if value is not None]
    axis = _Axis([0, 20, 40, 60, 80, 100] if shown.percent else round_numbers(known), 1.0, 0.0)
    tint = _diverging if shown.percent else _rising
    size = max(16, min(40, 1200 // len(names)))
    labels = shortened(names, _ROOM_IN_MAPS)
    left = _TOP + max(text_width(name, _SMALL) for name in labels)
    side = size * len(names)
    foot = _TOP + side
    svg = _Figure(left + side + 110, foot + 24 + 0.75 * left, title)
    texts = [
        [(f"{value:.0f}" if shown.percent else f"{value:.3g}",) if value is not None else () for value in row]
        for row in cells
    ]
    fills = [[None if value is None else tint(1 - axis.place(value)) for value in row] for row in cells]
    _draw_map(svg, labels, fills, texts if len(names) <= _MOST_NUMBERED else [], (left, _TOP), size)
    bar = left + side + 24
    bar_height = max(side, 120)
    step = bar_height / 40
    _draw_tints(svg, [(bar, _TOP + step * number, 14, step, tint(1 - (number + 0.5) / 40)) for number in range(40)])
    with svg.coloured(DIM):
        for tick in axis.ticks:
            svg.text(bar + 18, _TOP + bar_height * axis.place(tick) + 4, f"{tick:g}", _SMALL)
        _upright(svg, shown.label, bar + 60, _TOP + bar_height / 2)
    return str(svg)


def heat_maps(names: Sequence[str], tables: Mapping[str, Mapping[tuple[str, str], Agreement]], title: str) -> str:
    """Draws heat maps of the kappa of every two judges with the number of items, side by side.

    An undefined kappa is a dash. Pairs without a common item have an empty cell.

    Args:
        names: names of the judges.
        tables: agreement by title and pair of names, in alphabetical order.
        title: title of the figure.
    """
    labels, size = shortened(names, _ROOM_IN_MAPS), 56
    left = _TOP + max(text_width(name, _SMALL) for name in labels)
    width, foot = left + size * len(names) + _RIGHT, 40 + size * len(names)
    svg = _Figure(width * len(tables), foot + 24 + 0.75 * left, title)
    for number, (heading, table) in enumerate(tables.items()):
        fills: list[list[_Tint | None]] = [[None] * len(names) for _ in names]
        texts: list[list[tuple[str, ...]]] = [[()] * len(names) for _ in names]
        for row, column in itertools.permutations(range(len(names)), 2):
            first, second = sorted((names[row], names[column]))
            if (found := table.get((first, second))) is not None:
                kappa = found.kappa and found.kappa.value
                texts[row][column] = ("–" if kappa is None else f"{kappa:.2f}", f"({found.n})")
                fills[row][column] = None if kappa is None else _diverging((kappa + 1) / 2)
        start = width * number + left
        with svg.coloured(INK):
            svg.text(start + size * len(names) / 2, 26, heading, 14, text_anchor="middle")
        _draw_map(svg, labels, fills, texts, (start, 40), size)
    return str(svg)


def _rows(
    names: Sequence[str],
    values: Sequence[float],
    label: str,
    title: str,
    height: float = _ROW,
    legend: Sequence[str] = (),
) -> tuple[_Figure, _Axis, list[float]]:
    """Begins a figure of rows with names, an axis that covers values, and perhaps a legend.

    Returns:
        Drawing, axis, and the middle of each row.
    """
    shown, parts = shortened(names, _ROOM_FOR_NAMES), shortened(legend, _ROOM_FOR_NAMES)
    left = 24 + max((text_width(name, 13) for name in shown), default=0)
    bottom = max(_TOP + height * len(names), _legend_height(parts))
    svg = _Figure(_WIDTH + _legend_width(parts), bottom + _BELOW, title, "The table above has the same values.")
    axis = _Axis(round_numbers(values), left, _WIDTH - _RIGHT)
    _draw_across(svg, axis, _TOP, bottom, label)
    places = [_TOP + height * (number + 0.5) for number in range(len(names))]
    with svg.coloured(INK):
        for y, name in zip(places, shown, strict=True):
            svg.text(left - 10, y + 5, name, 13, text_anchor="end")
    _draw_legend(svg, parts, _WIDTH)
    return svg, axis, places


def _interval(svg: Svg, axis: _Axis, y: float, value: tuple[float, float | None, float | None]) -> None:
    """Draws a value with its interval at a height. Open ends reach to the limit of the axis."""
    middle, low, high = value
    begin, end = (axis.begin if low is None else axis.place(low), axis.end if high is None else axis.place(high))
    svg.line(begin, y, end, y, stroke=_CURRENT, stroke_width=2)
    for x, bound, way in ((begin, low, 6), (end, high, -6)):
        if bound is None:
            svg.path(_line([x + way, x, x + way], [y - 5, y, y + 5]), stroke=_CURRENT, fill="none")
        else:
            svg.line(x, y - 4, x, y + 4, stroke=_CURRENT, stroke_width=2)
    svg.circle(axis.place(middle), y, 4, fill=_CURRENT)


def _draw_across(svg: _Figure, axis: _Axis, top: float, bottom: float, label: str) -> None:
    """Draws an axis from left to right with its label and a line for every tick."""
    with svg.coloured(LINE):
        for tick in axis.ticks:
            svg.line(axis.place(tick), top, axis.place(tick), bottom)
    with svg.coloured(DIM):
        for tick in axis.ticks:
            svg.text(axis.place(tick), bottom + 16, f"{tick:g}", _SMALL, text_anchor="middle")
        svg.text((axis.begin + axis.end) / 2, bottom + 36, label, _SMALL, text_anchor="middle")


def _draw_up(svg: _Figure, axis: _Axis, left: float, right: float, label: str) -> None:
    """Draws an axis from bottom to top with its label and a line for every tick."""
    with svg.coloured(LINE):
        for tick in axis.ticks:
            svg.line(left, axis.place(tick), right, axis.place(tick))
    with svg.coloured(DIM):
        for tick in axis.ticks:
            svg.text(left - 6, axis.place(tick) + 4, f"{tick:g}", _SMALL, text_anchor="end")
        _upright(svg, label, 16, (axis.begin + axis.end) / 2)


def _upright(svg: _Figure, text: str, x: float, y: float) -> None:
    """Writes a text from bottom to top around a height, in lines of at most 34 characters."""
    for number, line in enumerate(textwrap.wrap(text, 34)):
        here = x + 14 * number
        svg.text(here, y, line, _SMALL, text_anchor="middle", transform=f"rotate(-90 {here:g} {y:g})")


def _draw_map(
    svg: _Figure,
    names: Sequence[str],
    fills: Sequence[Sequence[_Tint | None]],
    texts: Sequence[Sequence[tuple[str, ...]]],
    corner: tuple[float, float],
    size: float,
) -> None:
    """Draws a heat map, the first row on top, with names of rows and columns.

    Args:
        svg: drawing.
        names: names of rows and columns.
        fills: tint of each cell, ``None`` for an empty one.
        texts: lines in each cell; without any, no cell has a text.
        corner: top left corner.
        size: width and height of a cell.
    """
    left, top = corner
    tinted = [
        (left + size * column, top + size * row, size - 1, size - 1, tint)
        for row, tints in enumerate(fills)
        for column, tint in enumerate(tints)
        if tint is not None
    ]
    _draw_tints(svg, tinted)
    with svg.coloured(INK):
        for (row, lines), column in itertools.product(enumerate(texts), range(len(names))):
            x, y = left + size * (column + 0.5), top + size * (row + 0.5)
            for number, line in enumerate(lines[column]):
                svg.text(x, y + 4 + 13 * (number - (len(lines[column]) - 1) / 2), line, 11, text_anchor="middle")
        foot = top + size * len(names)
        for number, name in enumerate(names):
            middle = size * (number + 0.5)
            svg.text(left - 6, top + middle + 4, name, _SMALL, text_anchor="end")
            x, y = left + middle + 4, foot + 12
            svg.text(x, y, name, _SMALL, text_anchor="end", transform=f"rotate(-45 {x:g} {y:g})")


def _draw_tints(svg: _Figure, tinted: Sequence[tuple[float, float, float, float, _Tint]]) -> None:
    """Fills rectangles, each given by left, top, width, height and tint."""
    for colour in (LOW, HIGH):
        with svg.group(shape_rendering="crispEdges"), svg.coloured(colour):  # no seams between neighbours
            for left, top, width, height, tint in tinted:
                if tint.colour is colour:
                    svg.rect(left, top, width, height, fill=_CURRENT, fill_opacity=tint.opacity)


def _draw_legend(svg: _Figure, names: Sequence[str], left: float, dashes: Sequence[str | None] = (None,)) -> None:
    """Draws the colour of each name beside the figure."""
    for number, name in enumerate(names):
        y = _TOP + 18 * (number + 0.5)
        dash = dashes[number // len(SERIES) % len(dashes)]
        with svg.coloured(_series(number)):
            svg.line(left, y, left + 22, y, stroke_width=4, stroke_dasharray=dash)
        with svg.coloured(INK):
            svg.text(left + 28, y + 4, name, _SMALL)


def _legend_width(names: Sequence[str]) -> float:
    return 28 + _RIGHT + max(text_width(name, _SMALL) for name in names) if names else 0


def _legend_height(names: Sequence[str]) -> float:
    return _TOP + 18 * len(names)


def _series(number: int) -> Colour:
    return SERIES[number % len(SERIES)]


def _line(xs: Sequence[float], ys: Sequence[float]) -> str:
    """Returns a path through points."""
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in zip(xs, ys, strict=True))


def _diverging(share: float) -> _Tint:
    """Returns a tint: full ``LOW`` at 0, paper at 0.5, full ``HIGH`` at 1."""
    return _Tint(HIGH if share >= 0.5 else LOW, 1.3 * abs(share - 0.5))


def _rising(share: float) -> _Tint:
    """Returns a tint: near paper at 0, full ``HIGH`` at 1."""
    return _Tint(HIGH, 0.05 + 0.65 * share)


def _thinned(steps: Sequence[tuple[int, float, float]]) -> Sequence[tuple[int, float, float]]:
    """Returns at most ``_MAX_STEPS`` steps plus the last one, which limits the size of the figure."""
    stride = -(-len(steps) // _MAX_STEPS)
    return steps if stride <= 1 else [*steps[:-1:stride], steps[-1]]


def _labelled(label: str, shown: Sized, every: Sized) -> str:
    """Returns a label that mentions omitted rows."""
    return label + (f" (the first {len(shown)} of {len(every)})" if len(shown) < len(every) else "")
