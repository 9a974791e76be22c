import warnings

from rating.report.figures import intervals

LONG = "provider/a-large-language-model-with-a-name-longer-than-any-figure-"


def test_names_that_this_machine_has_no_glyphs_for_or_that_are_long_are_drawn_without_a_word():
    names = ["通义千问", LONG + "1", LONG + "2"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = intervals(names, [3.0, 2.0, 1.0], [2.0, None, 0.0], [None, 3.0, 2.0], "rating")
    assert "通义千问" in shown and LONG not in shown and "figure-1<" in shown and "figure-2<" in shown
