import warnings
from xml.etree import ElementTree

import pytest

from rating.schemes.figures import Groups, Intervals, Matrix, Shares, Trajectories
from rating.stats.estimates import Estimate
from rating.viewer.report import figures
from rating.viewer.report.intervals import plot_intervals
from rating.viewer.report.plots import Plot

LONG = "provider/a-large-language-model-with-a-name-longer-than-any-figure-"
NAMES = ["通义千问", LONG + "1", LONG + "2", "_first$x$\x07"]
VALUE = Estimate(0.5, 0.4, None, 9, 9)

FIGURES = {
    "trajectories": lambda: figures.trajectories(
        Trajectories({name: [(1, 25.0, 8.0), (2, 26.0, 7.0)] for name in NAMES}, "rating")
    ),
    "heat maps": lambda: figures.heat_maps(NAMES, {"first verdicts": {}}),
    "intervals": lambda: figures.intervals(Intervals([(name, 1.0, None, 2.0) for name in NAMES], "rating")),
    "groups": lambda: figures.groups(Groups(["seat 1", "_b"], [(name, [VALUE, None]) for name in NAMES], "score")),
    "matrix": lambda: figures.matrix(
        Matrix({one: {two: VALUE if one < two else None for two in NAMES} for one in NAMES}, "reward")
    ),
    "shares": lambda: figures.shares(Shares(["empty", "illegal"], [(name, [1, 2]) for name in NAMES], "replies")),
}


@pytest.mark.parametrize("kind", FIGURES)
def test_figure_unusual_names_are_drawn_without_warnings(kind, capsys):
    plot = Plot("game_v0", "figure", "a <figure>", FIGURES[kind]())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown, pixels = plot.svg, plot.png_file()
    assert "通义千问" in shown and LONG not in shown and "figure-1<" in shown and "figure-2<" in shown
    assert "_first$x$\\x07<" in shown
    assert pixels.startswith(b"\x89PNG") and capsys.readouterr() == ("", "")
    ElementTree.fromstring(plot.svg_file())
    assert 'aria-label="game_v0: a &lt;figure&gt;"' in plot.markup()


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIGURES)
def test_figure_same_data_gives_the_same_bytes(kind):
    one, other = (Plot("game_v0", "figure", "", FIGURES[kind]()) for _ in range(2))
    assert one.png_file() == other.png_file()
    assert one.svg_file() == other.svg_file()  # of which only the second was not asked for its pixels first


ROWS = [
    [("a", 1000.0, 900.0, 1100.0), ("<b>&" * 20, 950.0, None, None), ("c", -1e6, None, 1e6)],
    [("a", 0.0, 0.0, 0.0)],
    [("a", 0.5, None, None)],
    [("a", 1e-12, None, 2e-12), ("b", 0.0, 0.0, 1e-12)],
]


@pytest.mark.parametrize("rows", ROWS)
def test_intervals_of_any_size_are_within_their_axes(rows):
    (axes,) = figures.intervals(Intervals(rows, "rating")).axes
    low, high = axes.get_xlim()
    assert all(low <= value <= high for row in rows for value in row[1:] if value is not None)
    assert axes.get_ylim()[0] > len(rows) - 1 and axes.get_ylim()[1] < 0  # the first row on top


@pytest.mark.parametrize("rows", ROWS)
def test_interval_plot_of_the_board_is_within_its_frame(rows):
    root = ElementTree.fromstring(plot_intervals(Intervals(rows, "rating"), "game_v0"))
    width = float(root.get("width"))
    circles = root.findall("{*}circle")
    assert len(circles) == len(rows)
    for item in [*circles, *root.findall("{*}line")]:
        assert all(0 <= float(item.get(name, 0)) <= width for name in ("cx", "x1", "x2"))
    assert len(root.findall("{*}path")) == sum(row.count(None) for row in rows)  # arrows of open intervals
    assert len(root.findall("{*}text")) >= len(rows) + 2


def test_interval_plot_of_the_board_shortens_long_names():
    rows = [(name, 2.0, None, 3.0) for name in NAMES[:3]]
    shown = plot_intervals(Intervals(rows, "rating"), "game_v0")
    assert "通义千问" in shown and LONG not in shown and "figure-1<" in shown and "figure-2<" in shown


@pytest.mark.slow
def test_figure_of_thousands_of_policies_shows_the_first():
    rows = [(f"p{number:04}", 1.0, 0.0, 2.0) for number in range(3000)]
    plot = Plot("game_v0", "ratings", "", figures.intervals(Intervals(rows, "rating")))
    assert "(the first 200 of 3000)" in plot.svg and "p0199<" in plot.svg and "p0200<" not in plot.svg
    assert plot.png_file().startswith(b"\x89PNG")
