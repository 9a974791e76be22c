"""Figures in one common style, saved as PNG and SVG; the same values give the same bytes."""

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from rating.stats.estimates import Estimate

WIDTH = 7.0
"""Page width in inches."""

FONTS = (
    "DejaVu Sans",
    # For Chinese names, the first installed font; without one a PNG has boxes, while an SVG holds the text.
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "SimHei",
)
_INSTALLED = {font.name for font in fontManager.ttflist}
_STYLE = {
    "font.family": [name for name in FONTS if name in _INSTALLED],
    "svg.fonttype": "none",
    "svg.hashsalt": "llmarena",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
}
COLOURS = ("#0969da", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#57606a")
LINES = ("-", "--", ":", "-.")
"""Line styles; together with the colours they distinguish 24 policies."""

LEGEND_CHARACTERS = 100
"""Characters of names per line of a legend."""


@contextmanager
def axes(height: float = 3.2, columns: int = 1) -> Iterator[tuple[Figure, Sequence[Axes]]]:
    """Makes a figure of page width with axes side by side, in the common style."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        yield figure, [figure.add_subplot(1, columns, index + 1) for index in range(columns)]


def estimates(rows: Mapping[str, Estimate | None], label: str, *, lines: Mapping[str, float] | None = None) -> Figure:
    """Draws an estimate with its interval for every name, the first on top.

    Args:
        rows: estimates by name; those without a value are left out.
        label: name of the values, with their unit.
        lines: reference values by name.
    """
    shown = {name: value for name, value in rows.items() if value is not None}
    with axes(0.8 + 0.32 * max(1, len(shown))) as (figure, (field,)):
        for height, value in enumerate(shown.values()):
            low = value.value if value.low is None else value.low
            high = value.value if value.high is None else value.high
            field.errorbar(
                [value.value], [height], xerr=[[value.value - low], [high - value.value]], fmt="o", capsize=3,
                color=COLOURS[0], markersize=5,
            )  # fmt: skip
        name_rows(field, list(shown), label)
        for index, (name, position) in enumerate((lines or {}).items()):
            field.axvline(position, color=COLOURS[1 + index], linestyle="--", linewidth=1, label=plain(name))
        if lines:
            field.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def boxes(
    samples: Mapping[str, Sequence[float]],
    label: str,
    *,
    line: float | None = None,
    limits: tuple[float, float] | None = None,
    decimals: int = 2,
) -> Figure:
    """Draws a box plot for every name: median, quartiles, whiskers to the last value within 1.5 interquartile ranges, outliers.

    Args:
        samples: values by name; names without any are left out.
        label: name of the values, with their unit.
        line: a reference value, dashed.
        limits: of the axis; by default from the values.
        decimals: of the medians.
    """
    shown = {name: list(values) for name, values in samples.items() if len(values)}
    with axes(1.0 + 0.45 * max(1, len(shown))) as (figure, (field,)):
        for height, box in enumerate(boxplot_stats(list(shown.values())) if shown else ()):
            field.hlines([height] * 2, [box["whislo"], box["q3"]], [box["q1"], box["whishi"]], color=COLOURS[5])
            field.vlines([box["whislo"], box["whishi"]], height - 0.12, height + 0.12, color=COLOURS[5])
            field.barh(
                height, box["q3"] - box["q1"], 0.5, box["q1"], facecolor="#ddf4ff", edgecolor=COLOURS[0], zorder=2
            )
            field.vlines(box["med"], height - 0.25, height + 0.25, color=COLOURS[1], linewidth=2, zorder=3)
            field.text(
                box["med"], height - 0.27, f"{box['med'] + 0.0:.{decimals}f}",
                ha="center", va="bottom", fontsize="small", zorder=4,
            )  # fmt: skip
            field.plot(box["fliers"], [height] * len(box["fliers"]), "o", color=COLOURS[5], markersize=2.5, alpha=0.6)
        name_rows(field, list(shown), label)
        for height, values in enumerate(shown.values()):
            field.annotate(
                f"n = {len(values)}", (0, height + 0.42), (-8, 0), ("axes fraction", "data"), "offset points",
                ha="right", va="center", fontsize="small", color=COLOURS[5],
            )  # fmt: skip
        if line is not None:
            field.axvline(line, color=COLOURS[2], linestyle="--", linewidth=1, zorder=1)
        if limits:
            field.set_xlim(*limits)
    return figure


def name_rows(field: Axes, names: Sequence[str], label: str) -> None:
    """Labels horizontal rows, the first on top, and the axis."""
    field.set_yticks(range(len(names)), [plain(name) for name in names])
    field.set_ylim(max(1, len(names)) - 0.5, -0.5)
    field.figure.supxlabel(label, fontsize="medium")
    field.grid(axis="x", alpha=0.3)


def line_style(index: int) -> tuple[str, str]:
    """Returns colour and style of one of several lines."""
    return COLOURS[index % len(COLOURS)], LINES[index // len(COLOURS) % len(LINES)]


def legend_columns(names: Sequence[str]) -> int:
    """Returns the number of columns of a legend below a figure."""
    longest = max(len(plain(name)) for name in names)
    return max(1, min(len(names), LEGEND_CHARACTERS // (longest + 6)))


def plain(name: str, longest: int = 40) -> str:
    """Returns a name with dollar signs escaped for matplotlib and its middle left out if it is too long."""
    half = longest // 2
    cut = name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"
    return cut.replace("$", r"\$")


def save(figure: Figure, path: Path) -> list[Path]:
    """Saves a figure as ``path`` with ``.png`` and ``.svg`` appended, each atomically, and returns both paths.

    Characters without an installed font are boxes in the PNG; a line on standard error reports it.
    """
    paths = []
    missing = False
    for ending, details in (
        ("png", {"metadata": {"Software": None}, "dpi": 150}),
        ("svg", {"metadata": {"Date": None}}),
    ):
        target = path.with_name(f"{path.name}.{ending}")
        unfinished = target.with_name(f"{target.name}.new")
        with mpl.rc_context(_STYLE), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figure.savefig(unfinished, format=ending, **details)
        missing |= any(str(warning.message).startswith("Glyph ") for warning in caught)
        unfinished.replace(target)
        paths.append(target)
    if missing:
        print(
            f"{paths[0]}: no font has all of its characters; install one, e.g. Debian's fonts-noto-cjk, and compute the row again"
            f" (the texts in {paths[1].name} are complete)",
            file=sys.stderr,
        )
    return paths
