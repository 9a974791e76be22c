"""Claims about many differences at once."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from rating.schemes.leaderboard import ranks_of
from rating.stats.simultaneous import DealResult, Pair, established, holm, step_down
from rating.stats.units import units_of_means


def nulls(size, draws=4000, seed=0):
    values = np.random.default_rng(seed).normal(size=(draws, size))
    first, second = np.triu_indices(size, 1)
    return np.abs(values[:, first] - values[:, second]) / np.sqrt(2)


@pytest.mark.parametrize(("size", "studentized_range"), [(2, 2.772), (4, 3.633), (10, 4.474)])
def test_step_down_equals_match_tukey(size, studentized_range):
    drawn = nulls(size, 40_000)
    critical = studentized_range / np.sqrt(2)
    statistics = np.zeros(drawn.shape[1])
    for offset, expected in ((-0.05, False), (0.05, True)):
        statistics[0] = critical + offset
        assert step_down(statistics, drawn)[0] == expected


def test_step_down_after_rejections_rejects_more():
    drawn = np.abs(np.random.default_rng(1).normal(size=(20_000, 50)))
    alone = np.full(50, 2.2)
    assert not step_down(alone, drawn).any()
    assert step_down(np.r_[np.full(49, 9.0), 2.2], drawn).all()
    assert not len(step_down(np.zeros(0), np.zeros((100, 0))))


def test_holm_matches_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def cases_of(values):
    """Cases of a table, a row a deal and a column a policy."""
    return [
        DealResult("abcdefgh"[place], deal, float(value))
        for deal, row in enumerate(values)
        for place, value in enumerate(row)
    ]


def drawn(rng, deals, policies, luck=3.0):
    return luck * rng.normal(size=(deals, 1)) + rng.normal(size=(deals, policies))


def test_established_luck_of_common_deals_cancels():
    values = drawn(np.random.default_rng(0), 30, 2, luck=50.0) + np.array([1.5, 0.0])
    assert established(cases_of(values)) == (Pair("a", "b"),)
    apart = [case._replace(deal=case.deal + 100 * (case.policy == "b")) for case in cases_of(values)]
    assert established(apart) == ()


def test_established_needs_six_deals():
    for deals, expected in ((5, ()), (6, (Pair("a", "b"),))):
        assert established(cases_of([[9.0, 1.0]] * deals)) == expected


def test_established_copies_and_order_have_no_effect():
    values = [[1.0, 0.0]] * 3 + [[0.0, 0.2]] * 2
    once = cases_of(values)
    assert established(once * 40) == established(once) == ()
    many = cases_of(drawn(np.random.default_rng(1), 40, 4) + np.array([2.0, 1.0, 0.0, 0.0]))
    shuffled = [many[index] for index in np.random.default_rng(2).permutation(len(many))]
    assert established(many) == established(shuffled) != ()


def test_established_must_agree_with_all_matches():
    common = cases_of([[1.0, 0.0]] * 20)
    assert established(common) == (Pair("a", "b"),)
    assert established([*common, *(DealResult("b", 50 + deal, 9.0) for deal in range(20))]) == ()


@pytest.mark.slow
def test_established_power_matches_paired_t_test():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(300):
        values = drawn(rng, 30, 2) + np.array([0.7, 0.0])
        found.append((bool(established(cases_of(values))), ttest_1samp(values[:, 0] - values[:, 1], 0).pvalue < 0.05))
    signs, student = np.mean(found, axis=0)
    assert signs == pytest.approx(student, abs=0.03) and student > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("deals", [6, 40])
def test_established_equals_hold_the_level(deals):
    rng = np.random.default_rng(deals)
    wrong = np.mean([bool(established(cases_of(drawn(rng, deals, 8)))) for _ in range(200)])
    assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_ranks_of_counts_established_pairs():
    pairs = (Pair("a", "b"), Pair("a", "c"), Pair("b", "c"))
    assert ranks_of("abc", pairs) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}
    assert ranks_of("ac", pairs[:2]) == {"a": (1, 1), "c": (2, 2)}
    assert ranks_of("abc", pairs[:1]) == {"a": (1, 2), "b": (2, 3), "c": (1, 3)}


def test_units_of_means_need_all_parts():
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
