"""Means and rates with intervals: other libraries as oracles, coverage, and few or equal cases."""

import math

import numpy as np
import pytest
import truescore
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rating.stats.agreement import cohens_kappa
from rating.stats.estimates import (
    FEWEST_CLUSTERS,
    RunningMean,
    bounded_mean,
    mean_estimate,
    mean_half_width,
    rate_estimate,
    signed_mean,
)
from tests.rating.made_outcomes import close

numbers = st.floats(-100, 100)


@settings(max_examples=40)
@given(st.lists(numbers, min_size=2, max_size=40))
def test_mean_estimate_independent_values_match_scipy(values):
    estimate = mean_estimate(values)
    assert close(estimate.value, float(np.mean(values)), 1e-9)
    assert (estimate.n, estimate.clusters) == (len(values), len(values))
    if estimate.low is None:
        assert np.ptp(values) < 1e-9 or len(values) < FEWEST_CLUSTERS
    elif np.ptp(values) > 1e-6:
        expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
        assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(st.lists(st.tuples(numbers, st.integers(0, 5)), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_mean_estimate_order_of_values_has_no_effect(cases, random):
    shuffled = list(cases)
    random.shuffle(shuffled)
    first, second = (
        mean_estimate([value for value, _ in order], [cluster for _, cluster in order]) for order in (cases, shuffled)
    )
    assert first == second


def test_mean_estimate_copies_in_a_cluster_have_no_effect():
    values = np.random.default_rng(1).normal(size=50)
    once = mean_estimate(values)
    copies = mean_estimate(np.repeat(values, 20), np.repeat(np.arange(50), 20))
    assert (copies.n, copies.clusters) == (1000, 50)
    assert (copies.low, copies.high) == pytest.approx((once.low, once.high))


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("sizes", [[1, 1, 3, 3, 8], [2] * 5, [2] * 18])
@pytest.mark.parametrize("within", [0.0, 0.9])
def test_mean_estimate_few_clusters_cover_the_truth(sizes, within):
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    hits = 0
    for _ in range(400):
        values = math.sqrt(within) * rng.normal(size=len(sizes))[clusters]
        values += math.sqrt(1 - within) * rng.normal(size=len(clusters))
        estimate = mean_estimate(values, clusters)
        hits += estimate.low <= 0 <= estimate.high
    assert 0.91 <= hits / 400 <= 0.99


def test_mean_half_width_unequal_clusters_match_by_hand():
    sums, sizes = np.array([3.0, 8.0]), np.array([3, 2])
    # The residuals of the clusters are -3.6 and 3.6, of the cases .6 and .4; Satterthwaite's degrees of freedom of two are 1.
    error = math.sqrt(3.6**2 / 0.4 + 3.6**2 / 0.6) / 5
    freedom = 1 / (0.36 + 0.16 + 2 * (0.36 / 0.4) * (0.16 / 0.6))
    assert mean_half_width(sums, sizes) == pytest.approx(stats.t.ppf(0.975, freedom) * error)


@pytest.mark.parametrize("values", [[0.1] * 7, [1.0, -1.0, -1.0, 1.0], [3e9 + 0.1] * 3 + [3e9 + 0.1]])
def test_mean_estimate_equal_clusters_have_no_interval(values):
    clusters = range(len(values)) if values[0] == values[1] else [0, 0, 1, 1]
    assert mean_estimate(values, clusters)[1:3] == (None, None)


def test_mean_estimate_few_values_have_no_interval():
    assert mean_estimate([]) is None
    assert mean_estimate([4.0]) == (4.0, None, None, 1, 1)
    assert mean_estimate([4.0, 6.0], [9, 9]) == (5.0, None, None, 2, 1)
    assert mean_estimate([1.0, 2.0, 3.0], [2**63 + 1, 2**63 + 1, 5]).clusters == 2


def test_mean_estimate_bad_values_are_refused():
    with pytest.raises(ValueError, match="finite"):
        mean_estimate([1.0, math.nan])
    with pytest.raises(ValueError, match="one for each of 2"):
        mean_estimate([1.0, 2.0], [1])


@settings(max_examples=40)
@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_rate_estimate_matches_scipy(case):
    hits, n = case
    estimate = rate_estimate(hits, n)
    if n < FEWEST_CLUSTERS:
        assert estimate == (hits / n, None, None, n, n)
        return
    interval = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert close(estimate.low, interval.low, 1e-12) and close(estimate.high, interval.high, 1e-12)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_rate_estimate_edge_cases():
    assert rate_estimate(0, 0) is None
    assert rate_estimate(2.5, 4).value == 0.625
    with pytest.raises(ValueError, match="0 to 3"):
        rate_estimate(4, 3)


UNIT, SIGNED, SCORES = (0, 1), (-1, 1), (1, 10)


shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))


cases = st.lists(st.tuples(shares, shares, st.integers(0, 7)), min_size=1, max_size=24)


def found(cases):
    """Returns every estimate of some cases, each a share, another share and a cluster, with its scale."""
    first, second, groups = (list(column) for column in zip(*cases, strict=True))
    hits, others = [value > 0.5 for value in first], [value > 0.5 for value in second]
    scores = [1 + 9 * value for value in first]
    kappa = cohens_kappa(hits, others)
    return [
        (bounded_mean(first, groups), UNIT),
        (mean_estimate(second, groups, scale=UNIT), UNIT),
        (rate_estimate(sum(hits), len(hits)), UNIT),
        (kappa.observed, UNIT),
        (kappa.kappa, SIGNED),
        (signed_mean([2 * value - 1 for value in first], groups), SIGNED),
        (mean_estimate(scores, groups, scale=SCORES), SCORES),
    ]


@settings(max_examples=40)
@given(cases)
def test_intervals_any_values_stay_on_scale(cases):
    for estimate, (least, most) in found(cases):
        if estimate is None or estimate.low is None:
            continue
        assert estimate.clusters >= FEWEST_CLUSTERS
        assert least <= estimate.low <= estimate.value + 1e-9
        assert estimate.value - 1e-9 <= estimate.high <= most


def test_bounded_mean_independent_hits_are_a_rate():
    hits = [1, 0, 1, 1, 1]
    assert bounded_mean(hits) == rate_estimate(4, 5)
    assert bounded_mean(hits, list("abcde")) == rate_estimate(4, 5)
    assert bounded_mean([]) is None


def test_bounded_mean_equal_values_use_wilson_by_cluster():
    every = bounded_mean([1.0] * 20, [number // 4 for number in range(20)])
    assert every == rate_estimate(5, 5)._replace(n=20)
    half = bounded_mean([0.5] * 9)
    assert (half.value, half.low, half.high) == rate_estimate(4.5, 9)[:3]
    rounded = bounded_mean([0.1 + 0.2, *[0.3] * 4])
    assert (rounded.low, rounded.high) == pytest.approx(rate_estimate(1.5, 5)[1:3])
    # One cluster is one case, however many there are in it and however they differ.
    assert bounded_mean([1, 0, 1, 0], ["a"] * 4) == rate_estimate(0.5, 1)._replace(n=4)


@pytest.mark.parametrize(("groups", "spread"), [(400, 0.15), (5, 0.01)])
def test_bounded_mean_interval_matches_truescore(groups, spread):
    rng = np.random.default_rng(0)
    clusters = np.arange(groups).repeat(4)
    values = np.clip(rng.normal(0.5, spread, groups).repeat(4) + rng.normal(0, spread / 2, 4 * groups), 0, 1)
    ours, theirs = bounded_mean(values.tolist(), clusters), truescore.gold_only_estimate(values, clusters=clusters)
    assert ours.value == pytest.approx(theirs.point)
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.01)


def test_signed_mean_is_bounded_mean_rescaled():
    assert signed_mean([1, -1, 1, 1, 1])[:3] == pytest.approx([2 * end - 1 for end in rate_estimate(4, 5)[:3]])
    assert signed_mean([1, -1, 1, 1])[:3] == (0.5, None, None)
    assert signed_mean([0.0] * 6).low < 0 < signed_mean([0.0] * 6).high
    assert signed_mean([]) is None


def test_bounded_mean_bad_values_are_refused():
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(ValueError, match="values: expected numbers from 0 to 1, got"):
            bounded_mean([0.5, wrong])
    with pytest.raises(ValueError, match="expected one for each of 2 cases, got 1"):
        bounded_mean([0, 1], ["a"])


def test_running_mean_matches_mean_estimate():
    rng = np.random.default_rng(0)
    values, deals = rng.normal(1e6, 2.0, 60), rng.integers(0, 15, 60)
    mean = RunningMean()
    for count, (value, deal) in enumerate(zip(values, deals, strict=True), start=1):
        mean.add(value, int(deal))
        expected = mean_estimate(values[:count], deals[:count])
        assert (mean.n, mean.deals) == (count, expected.clusters)
        assert mean.mean == pytest.approx(expected.value)
        if expected.high is not None:
            assert mean.half_width() == pytest.approx(expected.high - expected.value, rel=1e-6)
        assert math.isinf(mean.half_width()) == (mean.deals < 2)


def test_running_mean_value_without_deal_is_a_deal():
    mean, halves = RunningMean(), []
    for value in (0.1, 0.1, 0.3):
        mean.add(value)
        halves.append(mean.half_width())
    assert halves[:2] == [math.inf, 0.0]
    assert halves[2] == pytest.approx(4.30265 * 0.2 / 3, rel=1e-4)
    assert mean.deals == 3
    assert RunningMean().half_width() == math.inf


def test_running_mean_rounding_is_no_variation():
    mean = RunningMean()
    for deal in range(50):
        for value in (0.1, 0.2) if deal % 2 else (0.3, 0.0):
            mean.add(value, deal)
    assert mean.half_width() == 0.0
    mean.add(1e-9, 50)
    assert mean.half_width() > 0
