"""Whether one policy is better than another: claims, their limits, and what more would tell."""

from dataclasses import replace

import numpy as np
import pytest

from llmarena_envs.core.options import OptionError
from rating.api import compare
from rating.stats.betting import BETS, CAPITAL
from rating.stats.compare import average_units, compare_champion, compare_units, elo_margin
from rating.stats.results import Battle
from rating.stats.units import DEALS, PAIRS, ROUNDS, Units


def units(scores, weights=None):
    return Units(np.asarray(scores, dtype=float), weights, PAIRS, 0)


def pairs(win_rate, number, seed=0):
    return units(np.random.default_rng(seed).binomial(2, win_rate, number) / 2)


def test_compare_one_pair_matches_by_hand():
    battles = [Battle("a", "b", 1, "1"), Battle("b", "a", 0, "1"), Battle("a", "c", 0, "2")]
    found = compare(battles, "a", "b", seated=True, level=0.1)
    assert (found.units, found.needed, found.better, found.after) == (1, 20, None, None)
    assert found.a_better.e == found.a_better.peak == pytest.approx(CAPITAL @ (1 + BETS))
    assert found.a_better.p == pytest.approx(1 / found.a_better.e)
    assert found.p == pytest.approx(2 / found.a_better.e) or found.p == 1
    assert (found.b_better.peak, found.b_better.p) == (1, 1)
    assert found.b_better.e == pytest.approx(CAPITAL @ (1 - BETS))
    assert (found.win_rate.value, found.win_rate.high, found.elo.value, found.elo.high) == (1, 1, None, None)


def test_compare_units_swapped_policies_swap_the_answer():
    for win_rate in (0.7, 0.5, 0.2):
        scores = pairs(win_rate, 80).scores
        found = compare_units(units(scores), "a", "b", equal=0.1)
        swapped = compare_units(units(1 - scores), "b", "a", equal=0.1)
        assert (found.better, found.after, found.equal) == (swapped.better, swapped.after, swapped.equal)
        assert (found.a_better, found.b_better) == (swapped.b_better, swapped.a_better)
        assert found.win_rate.low == pytest.approx(1 - swapped.win_rate.high)
        assert found.elo.low == pytest.approx(-swapped.elo.high)


def test_compare_units_margin_needs_more_evidence():
    scores = pairs(0.75, 120)
    margins = [0, elo_margin(50), 0.12, 0.24, 0.4]
    found = [compare_units(scores, "a", "b", margin=margin) for margin in margins]
    assert [item.better for item in found] == ["a", "a", "a", None, None]
    assert [item.a_better.peak for item in found] == sorted((item.a_better.peak for item in found), reverse=True)
    assert [elo_margin(elo) for elo in (0, 400)] == pytest.approx([0, 10 / 11 - 0.5])


def test_compare_units_equal_within_a_margin():
    equal = compare_units(pairs(0.5, 3_000), "a", "b", equal=0.05)
    assert (equal.better, equal.equal, equal.more) == (None, True, None)
    both = compare_units(pairs(0.53, 6_000), "a", "b", equal=0.06)
    assert (both.better, both.equal) == ("a", True)
    assert compare_units(pairs(0.5, 3_000), "a", "b", equal=0.01).equal is False
    assert compare_units(pairs(0.7, 3_000), "a", "b", equal=0.05).equal is False
    assert compare_units(pairs(0.5, 300), "a", "b").equal is None


def test_compare_units_decision_is_final():
    found = compare_units(units([*np.ones(30), *np.zeros(300)]), "a", "b")
    assert (found.better, found.a_better.e < 1, found.after < 30) == ("a", True, True)
    assert "changed during the run" in found.notes[0]
    assert found.win_rate.low < found.win_rate.value < found.win_rate.high


def test_compare_units_win_rate_lies_in_its_interval():
    found = compare_units(units([*np.tile([*np.ones(9), 0], 10), *np.tile([0, 1], 50)]), "a", "b")
    assert "changed during the run" in found.notes[0]
    assert found.win_rate.low < found.win_rate.value == 0.7 < found.win_rate.high


def test_compare_unordered_log_uses_the_last_value():
    battles = [Battle("a", "b", float(score)) for score in (*np.ones(60), *np.zeros(60))]
    found = compare(battles, "a", "b", equal=0.2)
    assert (found.better, found.a_better.peak == 1 > found.a_better.e) == (None, True)
    again = compare(battles[::-1], "a", "b", equal=0.2)
    assert replace(again, more=None) == replace(found, more=None)
    assert compare(battles, "a", "b", ordered=True).better == "a"
    clear = compare(battles[:80], "a", "b")
    assert (clear.better, clear.after) == ("a", 80)


def test_compare_units_weights_are_used():
    scores, weights = np.tile([1.0, 0.0], 100), np.tile([1.0, 0.2], 100)
    assert compare_units(units(scores), "a", "b").better is None
    weighted = compare_units(units(scores, weights), "a", "b")
    assert weighted.better == "a"
    assert weighted.win_rate.value == pytest.approx(1 / 1.2)


def test_compare_without_battles_decides_nothing():
    found = compare([Battle("a", "c", 1), Battle("b", "c", 1)], "a", "b", equal=0.1)
    assert (found.units, found.a_better.e, found.p, found.better, found.equal) == (0, 1, 1, None, False)
    assert (found.win_rate.value, found.elo.low, found.more) == (None, None, None)


def test_compare_units_forecast_of_further_units():
    soon, later = (compare_units(units(five * 4), "a", "b").more for five in ([1, 0.5, 1, 0, 1], [1, 0, 0.5, 0, 1]))
    assert soon.median < later.median
    assert soon.median <= soon.most
    assert compare_units(units(np.full(400, 0.5)), "a", "b").more.median is None
    assert (
        compare_units(pairs(0.5, 400), "a", "b", equal=0.06).more.decided
        > compare_units(pairs(0.5, 400), "a", "b").more.decided
    )
    decided = compare_units(pairs(0.8, 100), "a", "b")
    assert (decided.better, decided.more) == ("a", None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"b": "nobody"}, "expected one of 'a', 'b', got 'nobody'"),
        ({"b": "a"}, "expected different ones"),
        ({"level": 0.0}, "level: expected a number above 0, below 1; got 0"),
        ({"level": float("nan")}, "level"),
        ({"margin": 0.5}, "margin: expected a number of 0 or more, below 0.5; got 0.5"),
        ({"margin": 0.1, "equal": 0.1}, "equal: expected a number above 0.1, below 0.5; got 0.1"),
    ],
)
def test_compare_bad_arguments_are_refused(arguments, said):
    with pytest.raises(OptionError, match=said):
        compare([Battle("a", "b", 1)], **{"a": "a", "b": "b"} | arguments)


def test_compare_champion_corrects_for_all_challengers():
    alone = compare_units(units(np.ones(9)), "c0", "champion")
    assert 40 <= alone.a_better.peak < 160
    strong = compare_units(pairs(0.9, 60), "strong", "champion")
    others = [compare_units(pairs(0.5, 30, seed), f"c{seed}", "champion") for seed in (1, 2, 3)]
    found = compare_champion([alone, *others, strong])
    assert found.better == (None, None, None, None, "strong")
    assert found.p[-1] == pytest.approx(10 * strong.a_better.p)
    assert found.p[0] == pytest.approx(9 * alone.a_better.p)
    assert compare_champion([alone]).better == ("c0",)
    with pytest.raises(ValueError, match="one champion and one level"):
        compare_champion([alone, replace(strong, level=0.01)])


@pytest.mark.slow
def test_compare_champion_equals_hold_the_level():
    def alarm(seed):
        scores = [pairs(0.5, 60, 10 * seed + k) for k in range(4)]
        return any(
            compare_champion([compare_units(item, f"c{k}", "x", ahead=False) for k, item in enumerate(scores)]).better
        )

    assert sum(map(alarm, range(60))) <= 6


def test_average_units_weighs_environments_equally():
    average = average_units({"one": units([1, 1, 0]), "two": units([0, 0.5])})
    assert (average.scores.tolist(), average.kind, average.weights) == ([0.5, 0.75], PAIRS, None)
    mixed = average_units({"one": units([1]), "two": Units(np.array([0.5]), None, DEALS, 0)})
    assert mixed is not None and mixed.kind == ROUNDS
    assert average_units({"one": units([1])}) is None
    assert average_units({"one": units([1]), "two": units([])}) is None
