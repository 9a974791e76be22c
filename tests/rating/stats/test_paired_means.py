"""Differences of means on common deals."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from rating.schemes.leaderboard import ranks_of
from rating.stats.simultaneous import DealResult, Pair, by_deal, established, paired_differences
from rating.stats.units import units_of_means


def cases_of(values):
    """Cases of a table, a row a deal and a column a policy."""
    return [
        DealResult("abcdefgh"[place], deal, float(value))
        for deal, row in enumerate(values)
        for place, value in enumerate(row)
    ]


def drawn(rng, deals, policies, luck=3.0):
    return luck * rng.normal(size=(deals, 1)) + rng.normal(size=(deals, policies))


def test_luck_of_common_deals_cancels():
    values = drawn(np.random.default_rng(0), 30, 2, luck=50.0) + np.array([1.5, 0.0])
    assert established(cases_of(values)) == (Pair("a", "b"),)
    apart = [case._replace(deal=case.deal + 100 * (case.policy == "b")) for case in cases_of(values)]
    assert established(apart) == ()


def test_fewer_than_six_deals_establish_nothing():
    for deals, expected in ((5, ()), (6, (Pair("a", "b"),))):
        assert established(cases_of([[9.0, 1.0]] * deals)) == expected


def test_cases_of_a_deal_are_one_and_their_order_is_none():
    values = [[1.0, 0.0]] * 3 + [[0.0, 0.2]] * 2
    once = cases_of(values)
    assert established(once * 40) == established(once) == ()
    many = cases_of(drawn(np.random.default_rng(1), 40, 4) + np.array([2.0, 1.0, 0.0, 0.0]))
    shuffled = [many[index] for index in np.random.default_rng(2).permutation(len(many))]
    assert established(many) == established(shuffled) != ()


def test_a_difference_against_the_means_over_all_matches_is_not_established():
    common = cases_of([[1.0, 0.0]] * 20)
    assert established(common) == (Pair("a", "b"),)
    assert established([*common, *(DealResult("b", 50 + deal, 9.0) for deal in range(20))]) == ()


def test_power_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(300):
        values = drawn(rng, 30, 2) + np.array([0.7, 0.0])
        found.append((bool(established(cases_of(values))), ttest_1samp(values[:, 0] - values[:, 1], 0).pvalue < 0.05))
    signs, student = np.mean(found, axis=0)
    assert signs == pytest.approx(student, abs=0.03) and student > 0.6


@pytest.mark.parametrize("deals", [6, 12, 40])
def test_equals_are_told_apart_in_one_run_of_twenty(deals):
    rng = np.random.default_rng(deals)
    wrong = np.mean([bool(established(cases_of(drawn(rng, deals, 8)))) for _ in range(200)])
    assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_ranks_count_the_pairs_among_those_shown():
    pairs = (Pair("a", "b"), Pair("a", "c"), Pair("b", "c"))
    assert ranks_of("abc", pairs) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}
    assert ranks_of("ac", pairs[:2]) == {"a": (1, 1), "c": (2, 2)}
    assert ranks_of("abc", pairs[:1]) == {"a": (1, 2), "b": (2, 3), "c": (1, 3)}


def test_differences_are_means_of_a_deal():
    values = by_deal(
        [DealResult("a", 1, 1.0), DealResult("a", 1, 2.0), DealResult("b", 1, 1.0), DealResult("a", 2, 9.0)]
    )
    assert paired_differences(values["a"], values["b"]) == {1: 0.5}


def test_units_of_shared_deals_need_every_part_equally_often():
    cases = [
        DealResult(name, deal, value, part)
        for part in "xy"
        for deal in range(3)
        for name, value in (("a", 2.0), ("b", 1.0))
    ]
    units, leads = units_of_means(cases, "a", "b")
    assert (list(units.scores), leads, units.left_out) == ([1.0] * 3, [1.0] * 3, 0)
    units, leads = units_of_means(cases[:-1], "b", "a")
    assert (list(units.scores), leads, units.left_out) == ([0.0] * 2, [-1.0] * 2, 1)
    even = [
        *cases,
        DealResult("c", 7, 1.0, "x"),
        DealResult("a", 9, 1 / 3, "x"),
        DealResult("b", 9, 1 / 3 + 1e-15, "x"),
    ]
    assert list(units_of_means([case for case in even if case.part == "x"], "a", "b")[0].scores) == [1.0] * 3 + [0.5]
