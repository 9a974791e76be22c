"""Concordance and rank correlation within groups: known values, ties, groups that must not be mixed, few groups."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks.deepeval.ordering import concordance, rank_correlation


def test_pairs_are_counted_within_groups():
    # Group 0: pairs (1,2) and (1,3) alike, (2,3) tied by the score; group 1: one pair, ordered the other way round.
    found = concordance([1, 2, 2, 9, 8], [0.1, 0.2, 0.3, 0.4, 0.5], [0, 0, 0, 1, 1])
    assert (found.value, found.n, found.clusters) == ((1 + 1 + 0.5 + 0) / 4, 4, 2)
    assert found.low is found.high is None
    groups = np.repeat(np.arange(5), 3)
    more = concordance([1, 2, 2] * 5, [0.1, 0.2, 0.3] * 4 + [0.3, 0.2, 0.1], groups.tolist())
    assert 0 <= more.low < more.value < more.high <= 1


def test_pair_with_equal_truth_is_skipped():
    assert concordance([1, 2, 3], [5, 5, 5], [0, 0, 0]) is None
    assert concordance([1, 2], [1, 2], [0, 1]) is None
    assert concordance([], [], []) is None


def test_the_correlation_is_spearmans_in_one_group():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, size=(2, 40)).astype(float)
    found = rank_correlation(x, x + y, [7] * 40)
    assert found.value == pytest.approx(spearmanr(x, x + y).statistic)
    assert (found.low, found.n, found.clusters) == (None, 40, 1)


def test_differences_between_groups_do_not_count():
    groups = np.repeat(np.arange(10), 4)
    inside = np.tile([0.0, 1.0, 2.0, 3.0], 10)
    assert rank_correlation(groups + inside / 10, 5 - groups - inside, groups).value == pytest.approx(-1)
    assert rank_correlation(groups.astype(float), inside, groups) is None


def test_partial_correlation_vanishes_with_the_control():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(30), 10)
    cause = rng.normal(size=300)
    first, second = cause + 0.3 * rng.normal(size=300), cause + 0.3 * rng.normal(size=300)
    plain, partial = rank_correlation(first, second, groups), rank_correlation(first, second, groups, given=cause)
    assert plain.low > 0.8
    assert partial.low < 0 < partial.high or abs(partial.value) < 0.2
    assert rank_correlation(first, second, groups, given=first) is None


def test_interval_is_clustered_by_group():
    rng = np.random.default_rng(2)
    base = rng.normal(size=(2, 200))
    groups = np.repeat(np.arange(20), 10)
    single = rank_correlation(*base, groups)
    copied = rank_correlation(*(np.tile(side, 5) for side in base), np.tile(groups, 5))
    assert single.low < single.value < single.high
    assert copied.high - copied.low == pytest.approx(single.high - single.low, rel=0.15)
    assert rank_correlation(*base, groups) == single


def test_lengths_must_agree():
    for function in (concordance, rank_correlation):
        with pytest.raises(ValueError, match="expected two numbers and a group for each case, got 2, 1 and 2"):
            function([1, 2], [1], [0, 0])
