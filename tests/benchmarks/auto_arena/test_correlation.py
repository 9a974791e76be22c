"""Correlations of two lists of scores: an oracle, ties, missing scores and undefined values."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from benchmarks.auto_arena.correlation import correlate


@pytest.mark.parametrize("seed", range(4))
def test_it_agrees_with_scipy_with_ties_and_missing_scores(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, size=(2, 12)).tolist()
    missing = rng.random(size=(2, 12)) < 0.2
    first = {str(i): None if missing[0, i] else float(x[i]) for i in range(12)}
    second = {str(i): None if missing[1, i] else float(y[i]) for i in reversed(range(12))}
    both = [i for i in range(12) if not missing[:, i].any()]
    found = correlate(first, second)
    own = [x[i] for i in both], [y[i] for i in both]
    assert found.n == len(both)
    assert found.spearman == pytest.approx(spearmanr(*own).statistic)
    assert found.pearson == pytest.approx(pearsonr(*own).statistic)
    assert found.kendall == pytest.approx(kendalltau(*own).statistic)


def test_pairs_in_the_same_order_are_counted():
    found = correlate({"a": 4, "b": 3, "c": 2, "d": 1}, {"a": 40, "b": 20, "c": 30, "d": 10})
    assert (found.alike, found.pairs, found.concordance) == (5, 6, 5 / 6)
    tied = correlate({"a": 1, "b": 1, "c": 0}, {"a": 2, "b": 1, "c": 1})
    assert tied.alike == 0.5 + 1 + 0.5


def test_undefined_correlation_is_none():
    alone = correlate({"a": 1.0, "b": None}, {"a": 2.0, "b": 1.0, "c": 3.0})
    assert alone == (1, None, None, None, 0, 0)
    assert alone.concordance is None
    assert correlate({}, {"a": 1.0}).n == 0
    level = correlate({"a": 1, "b": 2}, {"a": 5, "b": 5})
    assert (level.spearman, level.pearson, level.kendall, level.alike) == (None, None, None, 0.5)


def test_large_and_close_scores_are_no_trouble():
    close = correlate({"a": 1e9, "b": 1e9 + 1, "c": 1e9 + 2}, {"a": 1, "b": 2, "c": 3})
    assert (close.spearman, close.pearson) == (pytest.approx(1), pytest.approx(1))


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_refused(score):
    with pytest.raises(ValueError, match="finite"):
        correlate({"a": score, "b": 1.0}, {"a": 1.0, "b": 2.0})


def test_the_interval_holds_for_players_that_are_drawn_again():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(300):
        x = rng.normal(size=7)
        y = 0.9 * x + math.sqrt(1 - 0.81) * rng.normal(size=7)
        found = correlate(dict(enumerate(x)), dict(enumerate(y))).spearman_estimate()
        inside += found.low <= 6 / math.pi * math.asin(0.45) <= found.high
    assert 0.94 <= inside / 300 <= 0.999  # 0.978 of 20,000


def test_a_perfect_correlation_of_few_players_is_not_certain():
    found = correlate(dict(enumerate(range(7))), dict(enumerate(range(7)))).spearman_estimate()
    assert (found.value, found.high, found.n) == (pytest.approx(1), 1, 7)
    assert 0.5 < found.low < 0.9
    reverse = correlate(dict(enumerate(range(7))), dict(enumerate(range(7, 0, -1)))).spearman_estimate()
    assert (reverse.low, reverse.high) == (-1, pytest.approx(-found.low))
    assert correlate(dict(enumerate(range(4))), dict(enumerate(range(4)))).spearman_estimate().low is None
    assert correlate({}, {}).spearman_estimate() is None
