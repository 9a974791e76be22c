"""Values with their intervals as a picture."""

from xml.etree import ElementTree

import pytest

from rating.schemes.figures import Intervals
from rating.viewer.report.intervals import plot_intervals

LONG = "provider/a-large-language-model-with-a-name-longer-than-any-figure-"


def test_long_names_are_told_apart_by_their_ends():
    rows = [("通义千问", 3.0, 2.0, None), (LONG + "1", 2.0, None, 3.0), (LONG + "2", 1.0, 0.0, 2.0)]
    shown = plot_intervals(Intervals(rows, "rating"), "game_v0")
    assert "通义千问" in shown and LONG not in shown and "figure-1<" in shown and "figure-2<" in shown


@pytest.mark.parametrize(
    "rows",
    [
        [("a", 1000.0, 900.0, 1100.0), ("<b>&" * 20, 950.0, None, None), ("c", -1e6, None, 1e6)],
        [("a", 0.0, 0.0, 0.0)],
        [("a", 0.5, None, None)],
        [("a", 1e-12, None, 2e-12), ("b", 0.0, 0.0, 1e-12)],
    ],
)
def test_a_plot_keeps_everything_within_its_frame(rows):
    root = ElementTree.fromstring(plot_intervals(Intervals(rows, "rating"), "game_v0"))
    width = float(root.get("width"))
    circles = root.findall("{*}circle")
    assert len(circles) == len(rows)
    for item in [*circles, *root.findall("{*}line")]:
        for name in ("cx", "x1", "x2"):
            assert 0 <= float(item.get(name, 0)) <= width
    arrows = root.findall("{*}path")
    assert len(arrows) == sum(row.count(None) for row in rows)
    assert len(root.findall("{*}text")) >= len(rows) + 2
