import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rating.stats.estimates import FEWEST_CLUSTERS, mean_estimate, mean_half_width, normalise, rate_estimate
from rating.stats.results import WinDrawLoss, duels, pair_table, records_by_seat
from tests.rating.made_outcomes import close, duel

numbers = st.floats(-100, 100)


@given(st.lists(numbers, min_size=2, max_size=40))
def test_the_interval_of_independent_values_is_students(values):
    estimate = mean_estimate(values)
    assert close(estimate.value, float(np.mean(values)), 1e-9)
    assert (estimate.n, estimate.clusters) == (len(values), len(values))
    if estimate.low is None:
        assert np.ptp(values) < 1e-9 or len(values) < FEWEST_CLUSTERS
    elif np.ptp(values) > 1e-6:
        expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
        assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-6)


@given(st.lists(st.tuples(numbers, st.integers(0, 5)), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(cases, random):
    shuffled = list(cases)
    random.shuffle(shuffled)
    first, second = (
        mean_estimate([value for value, _ in order], [cluster for _, cluster in order]) for order in (cases, shuffled)
    )
    assert first == second


def test_copies_within_a_cluster_are_no_evidence():
    values = np.random.default_rng(1).normal(size=50)
    once = mean_estimate(values)
    copies = mean_estimate(np.repeat(values, 20), np.repeat(np.arange(50), 20))
    assert (copies.n, copies.clusters) == (1000, 50)
    assert (copies.low, copies.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize("sizes", [[2] * 5, [1, 1, 3, 3, 8], [2] * 18])
@pytest.mark.parametrize("within", [0.0, 0.9])
def test_coverage_with_few_clusters(sizes, within):
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    hits = 0
    for _ in range(400):
        values = math.sqrt(within) * rng.normal(size=len(sizes))[clusters]
        values += math.sqrt(1 - within) * rng.normal(size=len(clusters))
        estimate = mean_estimate(values, clusters)
        hits += estimate.low <= 0 <= estimate.high
    assert 0.91 <= hits / 400 <= 0.99


def test_clusters_of_different_size_weigh_by_their_size():
    sums, sizes = np.array([3.0, 8.0]), np.array([3, 2])
    # The residuals of the clusters are -3.6 and 3.6, of the cases .6 and .4; Satterthwaite's degrees of freedom of two are 1.
    error = math.sqrt(3.6**2 / 0.4 + 3.6**2 / 0.6) / 5
    freedom = 1 / (0.36 + 0.16 + 2 * (0.36 / 0.4) * (0.16 / 0.6))
    assert mean_half_width(sums, sizes) == pytest.approx(stats.t.ppf(0.975, freedom) * error)


@pytest.mark.parametrize("values", [[0.1] * 7, [1.0, -1.0, -1.0, 1.0], [3e9 + 0.1] * 3 + [3e9 + 0.1]])
def test_alike_clusters_do_not_look_certain(values):
    clusters = range(len(values)) if values[0] == values[1] else [0, 0, 1, 1]
    assert mean_estimate(values, clusters)[1:3] == (None, None)


def test_too_few_cases_have_no_interval():
    assert mean_estimate([]) is None
    assert mean_estimate([4.0]) == (4.0, None, None, 1, 1)
    assert mean_estimate([4.0, 6.0], [9, 9]) == (5.0, None, None, 2, 1)


def test_huge_seeds_are_clusters():
    assert mean_estimate([1.0, 2.0, 3.0], [2**63 + 1, 2**63 + 1, 5]).clusters == 2


def test_bad_values_are_refused():
    with pytest.raises(ValueError, match="finite"):
        mean_estimate([1.0, math.nan])
    with pytest.raises(ValueError, match="one for each of 2"):
        mean_estimate([1.0, 2.0], [1])


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_rate_agrees_with_scipy(case):
    hits, n = case
    estimate = rate_estimate(hits, n)
    if n < FEWEST_CLUSTERS:
        assert estimate == (hits / n, None, None, n, n)
        return
    interval = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert close(estimate.low, interval.low, 1e-12) and close(estimate.high, interval.high, 1e-12)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_rate_of_nothing():
    assert rate_estimate(0, 0) is None
    assert rate_estimate(2.5, 4).value == 0.625
    with pytest.raises(ValueError, match="0 to 3"):
        rate_estimate(4, 3)


OUTCOMES = [
    duel(0, "a", "b", "a"),
    duel(1, "b", "a", "a"),
    duel(2, "a", "b", None),
    duel(3, "a", "c", "c"),
    duel(4, "c", "a", "c"),
]


def test_tables_by_hand():
    results = duels(OUTCOMES)
    assert records_by_seat(results) == {
        "a": (WinDrawLoss(1, 1, 1), WinDrawLoss(1, 0, 1)),
        "b": (WinDrawLoss(0, 0, 1), WinDrawLoss(0, 1, 1)),
        "c": (WinDrawLoss(1, 0, 0), WinDrawLoss(1, 0, 0)),
    }
    assert pair_table(results) == {
        "a": {"a": None, "b": WinDrawLoss(2, 1, 0), "c": WinDrawLoss(0, 0, 2)},
        "b": {"a": WinDrawLoss(0, 1, 2), "b": None, "c": None},
        "c": {"a": WinDrawLoss(2, 0, 0), "b": None, "c": None},
    }
    assert pair_table(results, by_seat=True)["a"] == {"a": None, "b": WinDrawLoss(1, 1, 0), "c": WinDrawLoss(0, 0, 1)}
    assert WinDrawLoss(1, 2, 3).n == 6


def test_normalise():
    assert normalise({"a": 50.0, "b": 25.0, "c": None, "d": -10.0}) == {"a": 100.0, "b": 50.0, "c": None, "d": -20.0}


@pytest.mark.parametrize("values", [{"a": 0.0, "b": -1.0}, {"a": None}, {}, {"a": -3.0}])
def test_normalise_needs_a_best_value_above_zero(values):
    with pytest.raises(ValueError, match="above 0"):
        normalise(values)
