"""Means of values between 0 and 1: Wilson's interval where cases are independent, no certainty from few clusters, coverage."""

import numpy as np
import pytest
import truescore

from rating.stats.estimates import bounded_mean, rate_estimate, signed_mean


def test_independent_hits_are_a_rate():
    hits = [1, 0, 1, 1, 1]
    assert bounded_mean(hits) == rate_estimate(4, 5)
    assert bounded_mean(hits, list("abcde")) == rate_estimate(4, 5)
    assert bounded_mean([]) is None


def test_cases_that_are_all_alike_are_as_uncertain_as_their_clusters():
    every = bounded_mean([1.0] * 20, [number // 4 for number in range(20)])
    assert every == rate_estimate(5, 5)._replace(n=20)
    half = bounded_mean([0.5] * 9)
    assert (half.value, half.low, half.high) == rate_estimate(4.5, 9)[:3]
    rounded = bounded_mean([0.1 + 0.2, *[0.3] * 4])
    assert (rounded.low, rounded.high) == pytest.approx(rate_estimate(1.5, 5)[1:3])
    # One cluster is one case, however many there are in it and however they differ.
    assert bounded_mean([1, 0, 1, 0], ["a"] * 4) == rate_estimate(0.5, 1)._replace(n=4)


def test_clusters_that_balance_themselves_are_no_certainty():
    balanced = bounded_mean([1, 0] * 20, [number // 2 for number in range(40)])
    assert balanced.high - balanced.low >= rate_estimate(20, 40).high - rate_estimate(20, 40).low


@pytest.mark.parametrize(("groups", "spread"), [(400, 0.15), (5, 0.01)])
def test_the_interval_is_that_of_the_oracle_where_wilsons_is_students(groups, spread):
    rng = np.random.default_rng(0)
    clusters = np.arange(groups).repeat(4)
    values = np.clip(rng.normal(0.5, spread, groups).repeat(4) + rng.normal(0, spread / 2, 4 * groups), 0, 1)
    ours, theirs = bounded_mean(values.tolist(), clusters), truescore.gold_only_estimate(values, clusters=clusters)
    assert ours.value == pytest.approx(theirs.point)
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.01)


@pytest.mark.parametrize(("groups", "rate"), [(8, 0.7), (8, 0.95), (40, 0.7)])
def test_the_interval_covers_the_mean_of_clustered_hits(groups, rate):
    rng = np.random.default_rng(1)
    clusters = np.arange(groups).repeat(4).tolist()
    covered = 0
    for _ in range(400):
        chances = rng.beta(2 * rate, 2 * (1 - rate), groups).repeat(4)
        estimate = bounded_mean((rng.random(4 * groups) < chances).astype(float).tolist(), clusters)
        covered += estimate.low <= rate <= estimate.high
    assert covered >= 0.93 * 400


def test_differences_have_twice_the_range():
    assert signed_mean([1, -1, 1, 1, 1])[:3] == pytest.approx([2 * end - 1 for end in rate_estimate(4, 5)[:3]])
    assert signed_mean([1, -1, 1, 1])[:3] == (0.5, None, None)
    assert signed_mean([0.0] * 6).low < 0 < signed_mean([0.0] * 6).high
    assert signed_mean([]) is None


def test_what_is_no_share_is_refused():
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(ValueError, match="values: expected numbers from 0 to 1, got"):
            bounded_mean([0.5, wrong])
    with pytest.raises(ValueError, match="expected one for each of 2 cases, got 1"):
        bounded_mean([0, 1], ["a"])
