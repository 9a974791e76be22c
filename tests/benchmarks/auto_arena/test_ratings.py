"""Ratings of a tournament: known strengths, ties both ways, undetermined ratings, other scores."""

import itertools

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks.auto_arena.ratings import rate
from rating.store.records import Match
from tests.rating.made_outcomes import Players, duel, void

STRENGTHS = {"a": 300.0, "b": 100.0, "c": -50.0, "d": -350.0}


def everybody_meets(battles, **options):
    """As many battles of every pair, at random by strength."""
    pairs = list(itertools.combinations(STRENGTHS, 2)) * battles
    return Players(STRENGTHS, **options).play(Match("game_v0", n, pair, n) for n, pair in enumerate(pairs))


def test_known_strengths_lie_in_the_intervals_and_the_mean_is_1000():
    found = rate(everybody_meets(200, seed=3))
    assert list(found.values()) == list(STRENGTHS)
    assert sum(found.values().values()) == pytest.approx(4000)
    for policy, estimate in found.estimates().items():
        assert estimate.low < 1000 + STRENGTHS[policy] < estimate.high
        assert estimate.n == 600


def test_ties_are_halves_or_left_out():
    # Three wins of four is 3 : 1, and so is a win with two ties; left out, a win alone is beyond all measure.
    outcomes = [duel(0, "a", "b", "a"), duel(1, "a", "b", None), void(2, "a", "b")]
    half, drop = rate(outcomes, "half"), rate(outcomes, "drop")
    assert half.values()["a"] - half.values()["b"] == pytest.approx(400 * np.log10(3))
    assert (half.battles, drop.battles) == ({"a": 2, "b": 2}, {"a": 1, "b": 1})
    assert (half.fitted.regularised, drop.fitted.regularised) == (False, True)
    assert np.isfinite(list(drop.values().values())).all()


def test_rating_unbeaten_in_few_battles_is_uncertain():
    found = rate([duel(number, "a", "b", "a") for number in range(6)])
    estimate = found.estimates()["a"]
    assert found.fitted.regularised
    assert estimate.high - estimate.low > 200


def test_rate_without_finished_matches_returns_none():
    assert rate([void(0, "a", "b")]) is None
    assert rate([]) is None


def test_ratings_do_not_depend_on_log_order():
    outcomes = everybody_meets(20)
    one, other = rate(outcomes), rate(outcomes[::-1])
    assert one.estimates() == other.estimates()


def test_correlation_uses_policies_with_a_score_only():
    found = rate(everybody_meets(30, seed=1))
    scores = {"a": 1.0, "b": 3.0, "c": 2.0, "d": None, "e": 9.0}
    estimate = found.spearman(scores)
    values = found.values()
    assert estimate.value == pytest.approx(spearmanr([values[name] for name in "abc"], [1, 3, 2]).statistic)
    assert estimate.n == 3
    assert estimate.low <= estimate.value <= estimate.high
    assert found.spearman({"a": 1.0}) is None


@pytest.mark.slow
def test_few_battles_leave_the_correlation_open_and_many_do_not():
    few, many = (
        rate(everybody_meets(3, seed=2)).spearman(STRENGTHS),
        rate(everybody_meets(100, seed=2)).spearman(STRENGTHS),
    )
    assert few.low < 0.9
    assert (many.low, many.value, many.high) == pytest.approx((1, 1, 1))
