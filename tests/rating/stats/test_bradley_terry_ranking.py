"""Uncertainty of the ranking: draws from the posterior are calibrated for pools of any spread."""

import numpy as np
import pytest

from rating.stats.bradley_terry import Comparisons, drawn_ratings, expected_spearman, fit, set_is_known, share_alike


def played(strengths, deals, rng, ties=0.0):
    """Deals of two matches with the seats swapped, of random pairs; strengths in Elo."""
    first = rng.integers(len(strengths), size=deals)
    second = (first + rng.integers(1, len(strengths), size=deals)) % len(strengths)
    lead = strengths[first] - strengths[second]
    scores = (rng.random((2, deals)) < 1 / (1 + 10 ** (-np.stack([lead, -lead]) / 400))).astype(float)
    scores[rng.random((2, deals)) < ties] = 0.5
    deal = np.tile(np.arange(deals), 2)
    names = tuple(f"p{index:02d}" for index in range(len(strengths)))
    return Comparisons(names, np.r_[first, second], np.r_[second, first], scores.ravel(), deal)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "ties"), [(100.0, 0.0), (300.0, 0.5)])
def test_expected_spearman_is_calibrated(spread, ties):
    rng = np.random.default_rng(4)
    expected, true = [], []
    for _ in range(60):
        strengths = rng.normal(0, spread, 8)
        data = played(strengths, 80, rng, ties)
        fitted = fit(data)
        distance = np.argsort(np.argsort(fitted.ratings)) - np.argsort(np.argsort(strengths))
        true.append(1 - 6 * (distance**2).sum() / (8 * 63))
        expected.append(expected_spearman(fitted.ratings, drawn_ratings(fitted, data)))
    assert np.mean(expected) == pytest.approx(np.mean(true), abs=0.06)


def test_share_alike_tells_equals_from_a_wide_pool():
    rng = np.random.default_rng(5)
    pairs = np.array(np.triu_indices(8, 1))
    for spread, alike in ((0.0, True), (300.0, False)):
        data = played(rng.normal(0, spread, 8), 200, rng)
        fitted = fit(data)
        assert (share_alike(fitted.ratings, drawn_ratings(fitted, data), pairs, 90.0) > 0.9) == alike


def test_drawn_ratings_one_deal_establishes_nothing():
    names, count = ("a", "b", "c"), 100
    score = np.ones(count)
    data = Comparisons(names, np.zeros(count, int), np.arange(count) % 2 + 1, score, np.zeros(count, int))
    fitted = fit(data)
    drawn = drawn_ratings(fitted, data)
    assert abs(expected_spearman(fitted.ratings, drawn)) < 0.2
    assert set_is_known(fitted.ratings, drawn, 1) < 0.5


def test_drawn_ratings_copies_in_a_deal_count_once():
    rng = np.random.default_rng(6)
    data = played(np.array([0.0, 60.0, 120.0, 180.0]), 60, rng)
    copies = Comparisons(
        *(
            np.tile(part, 5) if isinstance(part, np.ndarray) else part
            for part in (data.policies, data.first, data.second, data.score, data.cluster)
        )
    )
    known = [expected_spearman(fit(log).ratings, drawn_ratings(fit(log), log)) for log in (data, copies)]
    assert known[0] == pytest.approx(known[1], abs=0.05)


def test_set_is_known_matches_by_hand():
    ratings = np.array([3.0, 2.0, 1.0])
    drawn = np.array([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0], [3.0, 1.0, 2.0]])
    assert [float(set_is_known(ratings, drawn, count)) for count in (1, 2)] == [0.5, 0.5]
