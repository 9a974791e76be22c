"""The figures of the report, as SVG."""

import io
from collections.abc import Mapping, Sequence

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

# The same bytes for the same run: no date, no random ids, texts as texts.
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "llmarena",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_MAX_STEPS = 700
"""Steps of a line: about one a pixel."""

_LINES = ("-", "--", ":")
"""Styles of lines; the next one where the ten colours have been used up."""


def intervals(
    names: Sequence[str], values: Sequence[float], lows: Sequence[float], highs: Sequence[float], label: str
) -> str:
    """Draws a value with its interval for every name, the first name on top.

    Returns:
        An SVG element.
    """
    with mpl.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(7, 0.6 + 0.32 * len(names)), layout="constrained")
        heights = range(len(names))
        errors = [
            [value - low for value, low in zip(values, lows, strict=True)],
            [high - value for value, high in zip(values, highs, strict=True)],
        ]
        axes.errorbar(values, heights, xerr=errors, fmt="o", capsize=3, color="#0969da", markersize=5)
        axes.set_yticks(heights, [_plain(name) for name in names])
        axes.invert_yaxis()
        axes.set_xlabel(label)
        axes.grid(axis="x", alpha=0.3)
        return _svg(figure)


def trajectories(history: Mapping[str, Sequence[tuple[int, float, float]]], label: str) -> str:
    """Draws a rating after every match, with one standard deviation to either side.

    Args:
        history: match number, mean and standard deviation after each match, by name.
        label: of the vertical axis.

    Returns:
        An SVG element.
    """
    with mpl.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(7, max(3.2, 0.6 + 0.19 * len(history))), layout="constrained")
        for index, (name, every_step) in enumerate(history.items()):
            steps = _thinned(every_step)
            numbers = [number for number, _, _ in steps]
            means = [mean for _, mean, _ in steps]
            axes.plot(numbers, means, label=_plain(name), linewidth=1.2, linestyle=_LINES[index // 10 % len(_LINES)])
            axes.fill_between(
                numbers, [mean - sd for _, mean, sd in steps], [mean + sd for _, mean, sd in steps], alpha=0.15
            )
        axes.set_xlabel("match number")
        axes.set_ylabel(label)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        return _svg(figure)


def _thinned(steps: Sequence[tuple[int, float, float]]) -> Sequence[tuple[int, float, float]]:
    """Returns no more steps than can be told apart, among them the last one: a figure does not grow with its run."""
    stride = -(-len(steps) // _MAX_STEPS)
    return steps if stride <= 1 else [*steps[:-1:stride], steps[-1]]


def _plain(name: str) -> str:
    """Returns a name whose dollar signs are not taken for mathematics."""
    return name.replace("$", r"\$")


def _svg(figure: Figure) -> str:
    """Returns the drawing without its XML header, ready to stand in a page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = file.getvalue()
    return text[text.index("<svg") :]
