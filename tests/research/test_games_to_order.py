"""The simulation of schedules: it separates them, and its table reports its results."""

import numpy as np
import pytest

from research.games_to_order import Course, Options, Setting, simulate

SMALL = Options(runs=40)


@pytest.mark.slow
def test_adaptive_play_knows_the_order_before_round_robin():
    fixed, ahead, adaptive = (
        simulate(setting, 400, SMALL)
        for setting in (Setting("round robin", "B"), Setting("adaptive", "B", under_way=64), Setting("adaptive", "B"))
    )
    assert np.array_equal(fixed.games, adaptive.games) and np.array_equal(fixed.spend, fixed.games)
    assert fixed.order[-1] + 0.002 < ahead.order[-1] < adaptive.order[-1]
    assert np.array_equal(adaptive.order, simulate(Setting("adaptive", "B"), 400, SMALL).order)


@pytest.mark.slow
def test_known_costs_are_saved():
    known, unknown = (
        simulate(Setting("adaptive", "B", is_costly=True, is_aware=is_aware), 200, SMALL) for is_aware in (True, False)
    )
    assert known.spend[-1] < 0.7 * unknown.spend[-1]


@pytest.mark.parametrize(
    ("order", "wanted", "reached"), [([0.5, 0.99, 0.98, 0.99, 1], 0.99, 3), ([1, 1], 0.9, 0), ([1, 0.5], 0.9, None)]
)
def test_reached_is_the_first_lasting_success(order, wanted, reached):
    assert Course(np.arange(len(order)), np.array(order), np.zeros(len(order))).reached(wanted) == reached
