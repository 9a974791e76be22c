import warnings
from xml.etree import ElementTree

import pytest

from rating.schemes.figures import Groups, Intervals, Matrix, Shares, Trajectories
from rating.stats.estimates import Estimate
from rating.viewer.report import figures
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
def test_names_that_this_machine_has_no_glyphs_for_or_that_are_long_are_drawn_without_a_word(kind, capsys):
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
def test_the_same_figure_is_the_same_bytes(kind):
    one, other = (Plot("game_v0", "figure", "", FIGURES[kind]()) for _ in range(2))
    assert one.png_file() == other.png_file()
    assert one.svg_file() == other.svg_file()  # of which only the second was not asked for its pixels first


@pytest.mark.parametrize(
    "rows",
    [
        [("a", 1000.0, 900.0, 1100.0), ("b", 950.0, None, None), ("c", -1e6, None, 1e6)],
        [("a", 0.0, 0.0, 0.0)],
        [("a", 1e-12, None, 2e-12), ("b", 0.0, 0.0, 1e-12)],
    ],
)
def test_intervals_of_any_size_are_within_their_axes(rows):
    (axes,) = figures.intervals(Intervals(rows, "rating")).axes
    low, high = axes.get_xlim()
    assert all(low <= value <= high for row in rows for value in row[1:] if value is not None)
    assert axes.get_ylim()[0] > len(rows) - 1 and axes.get_ylim()[1] < 0  # the first row on top


@pytest.mark.slow
def test_a_figure_of_thousands_of_policies_has_the_first_ones_and_says_so():
    names = [f"p{number:04}" for number in range(3000)]
    plot = Plot(
        "game_v0", "ratings", "", figures.intervals(Intervals([(name, 1.0, 0.0, 2.0) for name in names], "rating"))
    )
    assert "(the first 200 of 3000)" in plot.svg and "p0199<" in plot.svg and "p0200<" not in plot.svg
    assert plot.png_file().startswith(b"\x89PNG")
