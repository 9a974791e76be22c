import warnings

from rating.report.figures import trajectories


def test_names_that_this_machine_has_no_glyphs_for_are_drawn_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "通义千问" in trajectories({"通义千问": [(1, 0.0, 1.0), (2, 1.0, 0.5)]}, "rating")
