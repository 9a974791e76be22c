"""The simulation of schedules: it can tell them apart, and its table says what it found."""

import numpy as np
import pytest

from research.games_to_order import Course, Options, Setting, run, simulate, tables

SMALL = Options(runs=40)


@pytest.mark.slow
def test_adaptive_play_knows_the_order_sooner_than_a_round_robin_even_with_many_pairs_under_way():
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


def test_a_least_number_of_games_changes_what_is_played():
    course = simulate(Setting("adaptive", "outlier"), 100, Options(runs=2, least=30))
    free = simulate(Setting("adaptive", "outlier"), 100, Options(runs=2))
    assert course.order[-1] != free.order[-1]


@pytest.mark.parametrize(
    ("order", "wanted", "reached"), [([0.5, 0.99, 0.98, 0.99, 1], 0.99, 3), ([1, 1], 0.9, 0), ([1, 0.5], 0.9, None)]
)
def test_what_is_reached_is_kept(order, wanted, reached):
    assert Course(np.arange(len(order)), np.array(order), np.zeros(len(order))).reached(wanted) == reached


def test_the_tables():
    options = Options(pools=("B", "outlier"), runs=2, horizon=60, wanted=0.5)
    text = tables(run(options), options, {14: 0.25})
    lines = [line for line in text.splitlines() if line]
    assert len(lines) == (2 + 5) + (2 + 3) + (2 + 1)
    assert lines[4].startswith("| adaptive | ") and "(goal 400)" in lines[4] and "(goal -)" in lines[4]
    assert lines[6].startswith("| adaptive, 64 pairs under way | ") and "(goal 460)" in lines[6]
