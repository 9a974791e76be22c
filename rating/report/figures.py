"""Figures of the report that Matplotlib draws, as SVG."""

import io
import itertools
import warnings
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from rating.report.names import shortened
from rating.statistics.agreement import Agreement

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

_ROOM_FOR_NAMES = 40
"""Characters of a name beside its line; the table has it in full."""

_ROOM_FOR_JUDGES = 20
"""Characters of the name of a judge."""

_LINES = ("-", "--", ":")
"""Styles of lines; the next one where the ten colours have been used up."""


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
        names = shortened(list(history), _ROOM_FOR_NAMES)
        for index, (name, every_step) in enumerate(zip(names, history.values(), strict=True)):
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


def heat_maps(names: Sequence[str], tables: Mapping[str, Mapping[tuple[str, str], Agreement]]) -> str:
    """Draws the kappa of every two judges with the number of cases, one table beside the other.

    Args:
        names: of the judges.
        tables: by title, the agreement of two judges, by both names in alphabetical order.

    Returns:
        An SVG element. Where kappa is undefined a dash stands; two who never judged the same case leave an empty cell.
    """
    size = 1.4 + 0.62 * len(names)
    labels = [_plain(name) for name in shortened(names, _ROOM_FOR_JUDGES)]
    with mpl.rc_context(_STYLE):
        figure, every = plt.subplots(
            1, len(tables), figsize=(size * len(tables), size + 0.3), layout="constrained", squeeze=False
        )
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
            axes.imshow(values, cmap="RdYlGn", vmin=-1, vmax=1)
            axes.set_title(title)
            axes.set_xticks(range(len(names)), labels, rotation=45, ha="right")
            axes.set_yticks(range(len(names)), labels)
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
    with warnings.catch_warnings():
        # Texts stay texts, so the reader's fonts count, not those that this machine lacks glyphs in.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = file.getvalue()
    return text[text.index("<svg") :]
