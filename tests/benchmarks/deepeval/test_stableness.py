"""When means stand still: cases by hand."""

import math

import numpy as np
import pytest

from benchmarks.deepeval.stableness import StablenessRule, running_means, stableness


def test_running_means_and_their_intervals():
    one, two, three = running_means([1.0, 3.0, 5.0])
    assert one == (1.0, math.inf)
    assert two.mean == 2.0
    assert two.half_width == pytest.approx(12.7062 * math.sqrt(2 / 2), rel=1e-4)  # Student's quantile for one degree
    assert three == (3.0, pytest.approx(4.3027 * math.sqrt(4 / 3), rel=1e-4))


def test_mean_is_stable_after_window_small_changes():
    # Means 0, 0, 0, 2, 1.6, 1.33..: over two matches they change by 0, 2, 1.6, 0.67, 0.46, 0.33, ...
    result = stableness({"a": [0, 0, 0, 8, 0, 0, 0, 0, 0]}, StablenessRule(window=2, eps=0.5, half_width=0.01))
    assert [None if change is None else round(change, 2) for change in result.changes] == [
        None, None, 0.0, 2.0, 1.6, 0.67, 0.46, 0.33, 0.25
    ]  # fmt: skip
    assert (result.stable, result.narrow, result.reason, result.matches) == (8, None, "stable", 8)


def test_one_unstable_player_prevents_stopping():
    rule = StablenessRule(window=2, eps=0.5, half_width=0.01)
    result = stableness({"still": [1] * 9, "moving": [0, 4] + [8] * 7}, rule)
    assert stableness({"still": [1] * 9}, rule).matches == 4
    assert result.matches is None
    assert result.reason == ""


def test_intervals_can_be_narrow_before_means_are_stable():
    values = np.tile([0.0, 1.0], 50)
    result = stableness({"a": values}, StablenessRule(window=4, eps=1e-9, half_width=0.25))
    narrow = next(m for m in range(1, 100) if running_means(values)[m].half_width < 0.25) + 1
    assert (result.reason, result.matches) == ("narrow", narrow)
    assert narrow > 8


def test_few_values_that_are_alike_are_not_enough():
    rule = StablenessRule(window=5)
    assert stableness({"a": [50.0] * 9}, rule).reason == ""
    result = stableness({"a": [50.0] * 10}, rule)
    assert (result.reason, result.matches, result.narrow) == ("stable", 10, None)


def test_changes_end_with_the_shortest_history():
    result = stableness({"a": [1.0] * 30, "b": [1.0] * 3}, StablenessRule(window=2))
    assert len(result.changes) == 3
    assert len(result.steps["a"]) == 30
    assert result.matches is None


def test_stability_refuses_no_players_and_bad_values():
    assert stableness({}, StablenessRule()).matches is None
    with pytest.raises(ValueError, match="finite"):
        stableness({"a": [math.nan]}, StablenessRule())
    with pytest.raises(ValueError, match="window"):
        StablenessRule(window=0)
