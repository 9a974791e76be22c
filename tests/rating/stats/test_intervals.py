"""Intervals stay on their scale, hold their estimate, and need enough independent cases."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rating.stats.agreement import cohens_kappa
from rating.stats.estimates import (
    FEWEST_CLUSTERS,
    Estimate,
    bounded_mean,
    mean_estimate,
    rate_estimate,
    signed_mean,
    with_interval,
)

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


@given(cases)
def test_intervals_of_any_cases_stay_on_their_scale(cases):
    for estimate, (least, most) in found(cases):
        if estimate is None or estimate.low is None:
            continue
        assert estimate.clusters >= FEWEST_CLUSTERS
        assert least <= estimate.low <= estimate.value + 1e-9
        assert estimate.value - 1e-9 <= estimate.high <= most


def test_interval_of_fewest_clusters_is_printed():
    values = [0.1, 0.9, 0.2, 0.8, 0.3]
    assert mean_estimate(values[1:]).low is mean_estimate(values[1:]).high is None
    assert mean_estimate(values).low == pytest.approx(0.46 - 2.7764 * math.sqrt(0.133 / 5), abs=1e-4)
    assert mean_estimate([*values[:4], 1.0], scale=UNIT)[1:3] == pytest.approx(
        (0.6 - 2.7764 * math.sqrt(0.175 / 5), 1.0), abs=1e-4
    )


def test_with_interval_cuts_at_both_ends():
    assert with_interval(0.5, -1, 2, 9, 5, UNIT) == Estimate(0.5, 0, 1, 9, 5)
    assert with_interval(0.5, -1, 2, 9, 4, UNIT) == Estimate(0.5, None, None, 9, 4)
    assert with_interval(0.5, -1, 2, 9, 5) == Estimate(0.5, -1, 2, 9, 5)
