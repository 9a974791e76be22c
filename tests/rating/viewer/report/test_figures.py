"""Figures: unusual names and values, many policies, the same bytes each time, and colours of both themes."""

import re
import struct
from importlib import resources
from xml.etree import ElementTree

import pytest

from rating.schemes.figures import Groups, Intervals, Matrix, Shares, Trajectories
from rating.stats.agreement import Agreement
from rating.stats.calibration import Calibration, CalibrationBin
from rating.stats.estimates import Estimate
from rating.viewer.report import figures
from rating.viewer.report.plots import Plot

LONG = "provider/a-large-language-model-with-a-name-longer-than-any-figure-"
NAMES = ["通义千问", LONG + "1", LONG + "2", "_first$x$\x07"]
VALUE = Estimate(0.5, 0.4, None, 9, 9)

CALIBRATION = Calibration((CalibrationBin(0.5, 0.6, 0.55, VALUE),), 3, 0.2, 0.25, 0.5, 0.7, VALUE)
KAPPAS = {("_first$x$\x07", "通义千问"): Agreement(9, None, None, VALUE)}

FIGURES = {
    "trajectories": lambda title: figures.trajectories(
        Trajectories({name: [(1, 25.0, 8.0), (2, 26.0, 7.0)] for name in NAMES}, "rating"), title
    ),
    "heat maps": lambda title: figures.heat_maps(NAMES, {"first verdicts": KAPPAS}, title),
    "intervals": lambda title: figures.intervals(
        Intervals([(name, 1.0, None, 2.0) for name in NAMES], "rating"), title
    ),
    "groups": lambda title: figures.groups(
        Groups(["seat 1", "_b"], [(name, [VALUE, None]) for name in NAMES], "score"), title
    ),
    "matrix": lambda title: figures.matrix(
        Matrix({one: {two: VALUE if one < two else None for two in NAMES} for one in NAMES}, "reward"), title
    ),
    "shares": lambda title: figures.shares(
        Shares(["empty", "illegal"], [(name, [1, 2]) for name in NAMES], "replies"), title
    ),
}


@pytest.mark.parametrize("kind", FIGURES)
def test_figure_unusual_names_are_drawn(kind):
    plot = Plot("game_v0", "figure", FIGURES[kind]("game_v0: a <figure>"))
    assert "通义千问" in plot.svg and LONG not in plot.svg and "figure-1<" in plot.svg and "figure-2<" in plot.svg
    assert "_first$x$\\x07<" in plot.svg
    root = ElementTree.fromstring(plot.svg_file())
    assert root.find("{*}title").text == "game_v0: a <figure>"
    assert_inside(root)


@pytest.mark.parametrize("kind", FIGURES)
def test_figure_png_has_150_dots_per_inch(kind):
    pytest.importorskip("resvg_py")
    plot = Plot("game_v0", "figure", FIGURES[kind]("title"))
    pixels = plot.png_file()
    assert pixels.startswith(b"\x89PNG") and pixels == plot.png_file()
    width = float(ElementTree.fromstring(plot.svg).get("width"))
    assert struct.unpack(">I", pixels[16:20])[0] == pytest.approx(width * 150 / 96, abs=1)


def assert_inside(root):
    """Asserts that shapes and texts of a figure begin and end inside of it."""
    width, height = (float(root.get(name)) for name in ("width", "height"))
    for item in root.iter():
        for names, most in ((("x", "cx", "x1", "x2"), width), (("y", "cy", "y1", "y2"), height)):
            assert all(0 <= float(item.get(name, 0)) <= most for name in names), item.attrib
        for x, y in re.findall(r"[ML](\S+) ([^LZ]+)", item.get("d", "")):
            assert 0 <= float(x) <= width and 0 <= float(y) <= height


def test_calibration_has_a_point_an_interval_and_a_bar_per_group():
    root = ElementTree.fromstring(figures.calibration(CALIBRATION, "title"))
    assert_inside(root)
    assert len(root.findall(".//{*}circle")) == 1
    assert len(root.findall("{*}g[@class='series-0']/{*}rect")) == 1


def test_trajectories_are_ordered_by_their_last_value():
    history = {name: [(1, 25.0, 8.0), (2, last, 1.0)] for name, last in (("low", 20.0), ("high", 30.0))}
    shown = figures.trajectories(Trajectories(history, "rating"), "title")
    assert shown.index("high<") < shown.index("low<")
    assert shown.count("fill-opacity") == 2


def test_matrix_beyond_thirty_policies_has_no_numbers():
    def drawn(count):
        names = [f"p{number}" for number in range(count)]
        table = {one: {two: Estimate(0.25, None, None, 9, 9) for two in names} for one in names}
        return figures.matrix(Matrix(table, "score", percent=True), "title")

    assert drawn(30).count(">25<") == 900 and drawn(31).count(">25<") == 0
    assert_inside(ElementTree.fromstring(drawn(60)))


ROWS = [
    [("a", 1000.0, 900.0, 1100.0), ("<b>&" * 20, 950.0, None, None), ("c", -1e6, None, 1e6)],
    [("a", 0.0, 0.0, 0.0)],
    [("a", 0.5, None, None)],
    [("a", 1e-12, None, 2e-12), ("b", 0.0, 0.0, 1e-12)],
]


@pytest.mark.parametrize("rows", ROWS)
def test_intervals_of_any_size_are_within_their_frame(rows):
    root = ElementTree.fromstring(figures.intervals(Intervals(rows, "rating"), "title"))
    assert_inside(root)
    circles = root.findall(".//{*}circle")
    assert len(circles) == len(rows)
    assert [float(item.get("cy")) for item in circles] == sorted(float(item.get("cy")) for item in circles)
    assert len(root.findall(".//{*}path")) == sum(row.count(None) for row in rows)  # arrows of open intervals
    assert len(root.findall(".//{*}text")) >= len(rows) + 2


@pytest.fixture(scope="module")
def themes():
    """Returns the colours of the light and of the dark theme, by variable."""
    css = (resources.files("rating.viewer") / "report" / "bundle" / "colours.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in css.split("@media"))
    return {"light": light, "dark": light | dark}


def contrast(one, other):
    def luminance(colour):
        parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    darker, lighter = sorted((luminance(one), luminance(other)))
    return lighter / darker


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_enough_contrast_on_paper(themes, theme):
    colours = themes[theme]
    for name in ("ink", "dim", "link", "bad", "good", "doubt"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
        assert contrast(colours[name], colours["soft"]) >= 4.5, name
    for colour in figures.SERIES:
        assert contrast(colours[colour.name], colours["paper"]) >= 3, colour


def test_figures_as_files_have_the_light_colours(themes):
    named = (figures.PAPER, figures.INK, figures.DIM, figures.LINE, figures.LOW, figures.HIGH, *figures.SERIES)
    assert {colour.name: colour.light for colour in named} == {
        colour.name: themes["light"][colour.name.removeprefix("fig-")] for colour in named
    }
    shown = [draw("title") for draw in FIGURES.values()] + [figures.calibration(CALIBRATION, "title")]
    for svg in shown:
        groups = {
            (item.get("class"), item.get("color")) for item in ElementTree.fromstring(svg).findall(".//{*}g[@class]")
        }
        assert groups <= {(colour.name, colour.light) for colour in named} and len(groups) > 3
        assert {*re.findall(r' (?:fill|stroke)="([^"]*)"', svg)} <= {"currentColor", "none"}


@pytest.mark.slow
def test_figure_of_thousands_of_policies_shows_the_first():
    rows = [(f"p{number:04}", 1.0, 0.0, 2.0) for number in range(3000)]
    shown = figures.intervals(Intervals(rows, "rating"), "title")
    assert "(the first 200 of 3000)" in shown and "p0199<" in shown and "p0200<" not in shown
