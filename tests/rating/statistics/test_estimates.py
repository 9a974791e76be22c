import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rating.statistics.estimates import (
    Tally,
    mean_estimate,
    normalise,
    pair_table,
    position_bias,
    rate_estimate,
    tallies,
)
from rating.statistics.results import duels
from tests.rating.made_outcomes import close, disturbed, duel, match

numbers = st.floats(-100, 100)


@given(st.lists(numbers, min_size=2, max_size=40))
def test_mean_lies_in_its_interval_and_within_the_values(values):
    estimate = mean_estimate(values, resamples=50)
    assert close(estimate.value, float(np.mean(values)), 1e-9)
    assert (estimate.n, estimate.clusters) == (len(values), len(values))
    assert min(values) - 1e-9 <= estimate.low <= estimate.high <= max(values) + 1e-9


@given(st.lists(st.tuples(numbers, st.integers(0, 5)), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(cases, random):
    shuffled = list(cases)
    random.shuffle(shuffled)
    first, second = (
        mean_estimate([value for value, _ in order], [cluster for _, cluster in order], resamples=20)
        for order in (cases, shuffled)
    )
    assert first == second


def test_bootstrap_agrees_with_the_normal_interval_of_many_values():
    values = np.random.default_rng(0).normal(3, 2, 400)
    estimate = mean_estimate(values)
    half = 1.96 * values.std(ddof=1) / 20
    assert close(estimate.low, values.mean() - half, 0.03) and close(estimate.high, values.mean() + half, 0.03)
    narrow = mean_estimate(values, confidence=0.5)
    assert estimate.low < narrow.low < narrow.high < estimate.high


def test_copies_within_a_cluster_are_no_evidence():
    values = np.random.default_rng(1).normal(size=50)
    once = mean_estimate(values)
    copies = mean_estimate(np.repeat(values, 20), np.repeat(np.arange(50), 20))
    fooled = mean_estimate(np.repeat(values, 20))
    assert (copies.n, copies.clusters) == (1000, 50)
    assert copies.high - copies.low == pytest.approx(once.high - once.low, rel=0.1)
    assert fooled.high - fooled.low < 0.3 * (copies.high - copies.low)


def test_coverage_of_the_clustered_interval():
    rng = np.random.default_rng(2)
    hits = []
    for _ in range(200):
        effects = rng.normal(size=40)
        values = np.repeat(effects, 2) + rng.normal(size=80)
        estimate = mean_estimate(values, np.repeat(np.arange(40), 2), resamples=300)
        hits.append(estimate.low <= 0 <= estimate.high)
    assert 0.90 <= np.mean(hits) <= 0.99


def test_clusters_of_different_size_weigh_by_their_size():
    estimate = mean_estimate([1.0, 1.0, 1.0, 5.0], ["q1", "q1", "q1", "q2"])
    assert estimate.value == 2.0
    assert (estimate.low, estimate.high) == (1.0, 5.0)


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


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95]))
def test_rate_agrees_with_scipy(case, confidence):
    hits, n = case
    estimate = rate_estimate(hits, n, confidence=confidence)
    interval = stats.binomtest(hits, n).proportion_ci(confidence, method="wilson")
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
    assert tallies(results) == {
        "a": (Tally(1, 1, 1), Tally(1, 0, 1)),
        "b": (Tally(0, 0, 1), Tally(0, 1, 1)),
        "c": (Tally(1, 0, 0), Tally(1, 0, 0)),
    }
    assert pair_table(results) == {
        "a": {"a": None, "b": Tally(2, 1, 0), "c": Tally(0, 0, 2)},
        "b": {"a": Tally(0, 1, 2), "b": None, "c": None},
        "c": {"a": Tally(2, 0, 0), "b": None, "c": None},
    }
    assert pair_table(results, by_seat=True)["a"] == {"a": None, "b": Tally(1, 1, 0), "c": Tally(0, 0, 1)}
    assert Tally(1, 2, 3).n == 6


def test_position_bias_by_hand():
    outcomes = [*OUTCOMES, match(5, ("a", 1.0), ("a", -1.0))]
    bias = position_bias(disturbed(outcomes))
    assert (bias.first, bias.ties, bias.second) == (3, 1, 2)
    assert bias.first_share == rate_estimate(3, 5)
    assert bias.by_policy["a"] == (Tally(2, 1, 1), Tally(1, 0, 2))
    assert position_bias([duel(0, "a", "b", None)]).first_share is None


def test_normalise():
    assert normalise({"a": 50.0, "b": 25.0, "c": None, "d": -10.0}) == {"a": 100.0, "b": 50.0, "c": None, "d": -20.0}


@pytest.mark.parametrize("values", [{"a": 0.0, "b": -1.0}, {"a": None}, {}, {"a": -3.0}])
def test_normalise_needs_a_best_value_above_zero(values):
    with pytest.raises(ValueError, match="above 0"):
        normalise(values)
