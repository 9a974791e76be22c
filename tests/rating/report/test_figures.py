import warnings

import pytest

from rating.report.figures import heat_maps, trajectories

LONG = "provider/a-large-language-model-with-a-name-longer-than-any-figure-"


@pytest.mark.parametrize(
    "draw",
    [
        lambda names: trajectories({name: [(1, 25.0, 8.0), (2, 26.0, 7.0)] for name in names}, "rating"),
        lambda names: heat_maps(names, {"first verdicts": {}}),
    ],
)
def test_names_that_this_machine_has_no_glyphs_for_or_that_are_long_are_drawn_without_a_word(draw):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = draw(["通义千问", LONG + "1", LONG + "2"])
    assert "通义千问" in shown and LONG not in shown and "figure-1<" in shown and "figure-2<" in shown
