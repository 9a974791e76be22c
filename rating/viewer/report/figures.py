"""Figures of the report, drawn with Matplotlib. ``plots`` writes them."""

import itertools
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from llmarena_envs.core.svg import visible
from rating.schemes.figures import Groups, Intervals, Matrix, Shares, Trajectories
from rating.stats.agreement import Agreement
from rating.stats.calibration import Calibration
from rating.viewer.report.names import shortened

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with Matplotlib: the layout does not depend on the machine
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

_WIDTH = 7.0
"""Width of a figure. All lengths are in inches."""

_ROW = 0.24
"""Height of a row."""

_MAX_STEPS = 350
"""Maximum steps of a line: about one per typographic point."""

MOST_ROWS = 200
"""Maximum number of policies in a figure; the table has all."""

MOST_IN_A_MAP = 60
"""Maximum number of policies in a heat map; with more it is omitted."""

_ROOM_FOR_NAMES = 40
"""Maximum columns of a name beside a row; the table has the full name."""

_ROOM_IN_MAPS = 20
"""Maximum columns of a name beside a heat map."""

_LINES = ("-", "--", ":")
"""Line styles; each is used for ten lines with different colours."""

_COLOUR = "#0550ae"
_DIM = "#59636e"

Floats = NDArray[np.float64]
Given = ParamSpec("Given")


def drawing(draw: Callable[Given, Figure]) -> Callable[Given, Figure]:
    """Decorator that draws in a fixed style, independent of the user's Matplotlib settings."""

    @wraps(draw)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> Figure:
        with style.context(["default", _STYLE]):
            return draw(*args, **kwargs)

    return drawn


@drawing
def intervals(shown: Intervals) -> Figure:
    """Draws a value with its interval for every policy, the best on top. Open ends are arrows."""
    rows = shown.rows[:MOST_ROWS]
    figure = _figure(0.9 + _ROW * len(rows))
    axes = figure.subplots()
    low, high = _span([value for row in rows for value in row[1:] if value is not None])
    for place, (_, value, lower, upper) in enumerate(rows):
        _interval(axes, place, value, lower, upper, (low, high), _COLOUR)
    _rows(axes, [row[0] for row in rows])
    axes.set_xlim(low, high)
    axes.set_xlabel(_labelled(shown.label, rows, shown.rows))
    return figure


@drawing
def groups(shown: Groups) -> Figure:
    """Draws one value with interval per part for every policy, one colour per part."""
    parts, rows = len(shown.parts), shown.rows[:MOST_ROWS]
    height = max(_ROW, 0.11 * (parts + 1))
    figure = _figure(1.2 + height * len(rows))
    axes = figure.subplots()
    known = [end for _, values in rows for value in values if value for end in value[:3] if end is not None]
    low, high = _span(known)
    for (row, (_, values)), part in itertools.product(enumerate(rows), range(parts)):
        if (value := values[part]) is not None:
            place = row + (part - (parts - 1) / 2) / (parts + 1)
            _interval(axes, place, value.value, value.low, value.high, (low, high), f"C{part % 10}")
    for part in range(parts):
        axes.plot([], [], "o-", color=f"C{part % 10}", markersize=4)
    _legend(axes, shown.parts)
    _rows(axes, [name for name, _ in rows])
    axes.set_xlim(low, high)
    axes.set_xlabel(_labelled(shown.label, rows, shown.rows))
    return figure


@drawing
def trajectories(shown: Trajectories) -> Figure:
    """Draws a rating or mean after every match, with a band of one standard deviation or error.

    The legend is ordered by the last value, highest first.
    """
    last = sorted(shown.history.items(), key=lambda item: -item[1][-1][1])[:MOST_ROWS]
    figure = _figure(max(3.2, 0.6 + 0.19 * len(last)))
    axes = figure.subplots()
    for index, (_, every_step) in enumerate(last):
        steps = _thinned(every_step)
        numbers = [number for number, _, _ in steps]
        axes.plot(numbers, [mean for _, mean, _ in steps], linewidth=1.2, linestyle=_LINES[index // 10 % len(_LINES)])
        below, above = ([mean + sign * sd for _, mean, sd in steps] for sign in (-1, 1))
        axes.fill_between(numbers, below, above, alpha=0.15)
    axes.set_xlabel(_labelled("match number", last, shown.history))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel(_upright(shown.label))
    _legend(axes, [name for name, _ in last])
    return figure


@drawing
def matrix(shown: Matrix) -> Figure:
    """Draws a heat map of a value for every two policies, with numbers for small maps."""
    names = list(shown.table)
    scale = 100 if shown.percent else 1
    values = scale * np.array(
        [[math.nan if cell is None else cell.value for cell in row.values()] for row in shown.table.values()]
    )
    size = 1.8 + max(0.2, min(0.42, 25 / len(names))) * len(names)
    figure = Figure(figsize=(size + 0.8, size), layout="constrained")
    axes = figure.subplots()
    low, high = (0.0, 100.0) if shown.percent else _span(values[~np.isnan(values)].tolist())
    drawn = _fields(axes, values, names, cmap="RdYlGn" if shown.percent else "YlGn", vmin=low, vmax=high)
    bar = figure.colorbar(drawn, ax=axes, shrink=0.7)
    bar.set_label(_upright(shown.label))
    if bar.solids is not None:  # keep the colour bar as vectors
        bar.solids.set_rasterized(False)
    if len(names) <= _MOST_NUMBERED:
        for row, column in np.argwhere(~np.isnan(values)):
            number = f"{values[row, column]:.0f}" if shown.percent else f"{values[row, column]:.3g}"
            red, green, blue, _ = drawn.to_rgba(values[row, column])
            ink = "black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.45 else "white"
            axes.text(column, row, number, ha="center", va="center", fontsize=7, color=ink)
    return figure


_MOST_NUMBERED = 30
"""Maximum number of policies in a heat map with numbers."""


@drawing
def calibration(shown: Calibration) -> Figure:
    """Draws observed against predicted scores, and below them the number of results per group."""
    figure = _figure(4.4, 5.0)
    axes, counts = figure.subplots(2, height_ratios=(4, 1), sharex=True)
    axes.plot([0.5, 1], [0.5, 1], color=_DIM, linewidth=1, linestyle="--")
    for group in shown.groups:
        value = group.observed
        if value.low is not None:
            axes.plot([group.predicted] * 2, [value.low, value.high], color=_COLOUR)
        axes.plot([group.predicted], [value.value], "o", color=_COLOUR, markersize=5)
        counts.bar(group.predicted, value.n, width=0.02, color=_COLOUR)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("observed score of the favourite")
    counts.set_xlim(0.49, 1.01)
    counts.set_ylabel("results")
    counts.set_xlabel("predicted score of the favourite")
    return figure


@drawing
def shares(shown: Shares) -> Figure:
    """Draws stacked bars for every policy."""
    rows = shown.rows[:MOST_ROWS]
    figure = _figure(1.2 + _ROW * len(rows))
    axes = figure.subplots()
    starts = np.zeros(len(rows))
    for part in range(len(shown.parts)):
        widths = np.array([values[part] for _, values in rows], dtype=float)
        axes.barh(range(len(rows)), widths, left=starts, height=0.7, color=f"C{part % 10}")
        starts += widths
    _legend(axes, shown.parts, bars=True)
    _rows(axes, [name for name, _ in rows])
    axes.set_xlabel(_labelled(shown.label, rows, shown.rows))
    return figure


@drawing
def heat_maps(names: Sequence[str], tables: Mapping[str, Mapping[tuple[str, str], Agreement]]) -> Figure:
    """Draws heat maps of the kappa of every two judges with the number of items, side by side.

    An undefined kappa is a dash. Pairs without a common item have an empty cell.

    Args:
        names: names of the judges.
        tables: agreement by title and pair of names, in alphabetical order.
    """
    size = 1.4 + 0.62 * len(names)
    figure = Figure(figsize=(size * len(tables), size + 0.3), layout="constrained")
    every = figure.subplots(1, len(tables), squeeze=False)
    for axes, (title, table) in zip(every[0], tables.items(), strict=True):
        values = np.full((len(names), len(names)), np.nan)
        for row, column in itertools.permutations(range(len(names)), 2):
            first, second = sorted((names[row], names[column]))
            found = table.get((first, second))
            if found is None:
                continue
            kappa = "–" if found.kappa is None else f"{found.kappa.value:.2f}"
            values[row, column] = np.nan if found.kappa is None else found.kappa.value
            axes.text(column, row, f"{kappa}\n({found.n})", ha="center", va="center", fontsize=7)
        _fields(axes, values, names, cmap="RdYlGn", vmin=-1, vmax=1)
        axes.set_title(title)
    return figure


def _figure(height: float, width: float = _WIDTH) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _fields(axes: Axes, values: Floats, names: Sequence[str], **colours: Any) -> QuadMesh:
    """Draws a heat map, the first row on top, with names of rows and columns."""
    places = np.arange(len(names))
    drawn = axes.pcolormesh(places, places, np.ma.masked_invalid(values), edgecolors="white", linewidth=0.5, **colours)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    labels = [_plain(name) for name in shortened(names, _ROOM_IN_MAPS)]
    axes.set_xticks(places, labels, rotation=45, ha="right")
    axes.set_yticks(places, labels)
    return drawn


def _interval(
    axes: Axes,
    place: float,
    value: float,
    low: float | None,
    high: float | None,
    span: tuple[float, float],
    colour: str,
) -> None:
    """Draws a value with its interval at a height. Open ends reach to the limit of the span."""
    ends = [span[0] if low is None else low, span[1] if high is None else high]
    axes.plot(ends, [place] * 2, color=colour, linewidth=1.4)
    for end, bound, arrow in zip(ends, (low, high), "<>", strict=True):
        axes.plot([end], [place], "|" if bound is not None else arrow, color=colour, markersize=5, clip_on=False)
    axes.plot([value], [place], "o", color=colour, markersize=4)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Labels rows with names, the first on top."""
    axes.set_yticks(range(len(names)), [_plain(name) for name in shortened(names, _ROOM_FOR_NAMES)])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color="#d0d7de", linewidth=0.6)
    axes.set_axisbelow(True)


def _span(known: Sequence[float]) -> tuple[float, float]:
    """Returns a range that contains all values, with margins."""
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _legend(axes: Axes, names: Sequence[str], *, bars: bool = False) -> None:
    """Adds a legend of the last lines or bars beside the figure."""
    drawn: list[Any] = [part[0] for part in axes.containers] if bars else axes.get_lines()[-len(names) :]
    # Matplotlib omits labels that start with an underscore, so names are set afterwards.
    legend = axes.legend(
        drawn, ["?"] * len(names), loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8
    )
    for text, name in zip(legend.get_texts(), shortened(list(names), _ROOM_FOR_NAMES), strict=True):
        text.set_text(_plain(name))


def _thinned(steps: Sequence[tuple[int, float, float]]) -> Sequence[tuple[int, float, float]]:
    """Returns at most ``_MAX_STEPS`` steps plus the last one, which limits the size of the figure."""
    stride = -(-len(steps) // _MAX_STEPS)
    return steps if stride <= 1 else [*steps[:-1:stride], steps[-1]]


def _labelled(label: str, shown: Sized, every: Sized) -> str:
    """Returns a label that mentions omitted rows."""
    return _plain(label) + (f" (the first {len(shown)} of {len(every)})" if len(shown) < len(every) else "")


def _upright(text: str) -> str:
    """Returns a text wrapped to the height of an axis."""
    return "\n".join(textwrap.wrap(_plain(text), 34))


def _plain(text: str) -> str:
    """Returns a text with visible control characters and escaped dollar signs (no mathtext)."""
    return visible(text).replace("$", r"\$")
