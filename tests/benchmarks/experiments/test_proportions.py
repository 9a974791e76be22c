"""Proportions and their changes: published examples, and samples without variance."""

import numpy as np
import pytest

from benchmarks.experiments.proportions import paired_change, rate_of_counts, unpaired_change
from rating.stats.estimates import bounded_mean, rate_estimate


def pairs(both, ended, begun, neither):
    before = [True] * (both + ended) + [False] * (begun + neither)
    after = [True] * both + [False] * ended + [True] * begun + [False] * neither
    return before, after


@pytest.mark.parametrize(
    ("table", "low", "high"),
    # Newcombe 1998, Table III, method 10: intervals of (before - after).
    [((36, 12, 2, 0), 0.0569, 0.3404), ((20, 12, 2, 16), 0.0562, 0.3290)],
)
def test_the_interval_of_a_change_is_newcombes(table, low, high):
    before, after = pairs(*table)
    change = paired_change(before, after)
    n = sum(table)
    assert change.value == pytest.approx((table[2] - table[1]) / n)
    assert (-change.high, -change.low) == pytest.approx((low, high), abs=5e-4)


def test_no_change_of_few_pairs_is_no_certainty():
    change = paired_change([False] * 5, [False] * 5)
    assert change.value == 0
    assert change.low == pytest.approx(-rate_estimate(0, 5).high)
    assert change.high == pytest.approx(rate_estimate(0, 5).high)
    assert paired_change([], []) is None
    with pytest.raises(ValueError, match="as many cases"):
        paired_change([True], [])


def test_the_interval_of_a_change_covers_it():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        common = rng.random(30) < 0.5
        before, after = (np.where(common, shared, rng.random(30) < p) for shared, p in ((True, 0.2), (True, 0.5)))
        change = paired_change(before.tolist(), after.tolist())
        covered += change.low <= 0.5 * 0.3 <= change.high
    assert covered >= 0.92 * 400


def test_difference_of_shares_has_newcombe_interval():
    # Newcombe (1998), Table II, (a) and (h), method 10.
    change = unpaired_change(rate_estimate(48, 80), rate_estimate(56, 70))
    assert change[:3] == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert (change.n, change.clusters) == (150, 150)
    none = unpaired_change(rate_estimate(0, 10), rate_estimate(10, 10))
    assert none[:3] == pytest.approx((1, 0.6075, 1), abs=5e-5)
    assert unpaired_change(rate_estimate(1, 2)._replace(low=None), rate_estimate(1, 2)).high is None


def test_rate_of_counts_is_clustered():
    assert rate_of_counts([(1, 2, "a"), (0, 1, "b"), (2, 2, "a"), (0, 0, "c")]) == bounded_mean(
        [1, 0, 0, 1, 1], "aabaa"
    )
    assert rate_of_counts([]) is None
