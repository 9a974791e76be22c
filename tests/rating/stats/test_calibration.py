"""Whether predictions come true: on results that do as predicted, on results that do not, and by hand."""

import math

import numpy as np
import pytest

from rating.stats.bradley_terry import Comparisons
from rating.stats.calibration import Predictions, calibrate, predict

STRENGTHS = np.array([-300.0, -100.0, 0.0, 100.0, 300.0])


NAMES = tuple("abcde")


def drawn(deals, strengths=STRENGTHS, seat=60.0, ties=0.1, seed=0):
    """Results of every pair from both seats on every deal, and the true expected scores."""
    rng = np.random.default_rng(seed)
    pairs = [(one, two) for one in range(len(strengths)) for two in range(len(strengths)) if one != two]
    first, second = np.array(pairs * deals).T
    cluster = np.repeat(np.arange(deals), len(pairs))
    true = 1 / (1 + 10 ** (-(strengths[first] - strengths[second] + seat) / 400))
    score = (rng.random(len(true)) < true).astype(float)
    tied = rng.random(len(true)) < ties
    score[tied] = 0.5
    true = (1 - ties) * true + ties / 2
    return Comparisons(NAMES[: len(strengths)], first, second, score, cluster), true


def misses(found):
    return [group for group in found.groups if not group.is_met]


def test_predict_true_model_is_calibrated():
    comparisons, true = drawn(60)
    predictions = predict(comparisons)
    assert np.abs(predictions.score - true).mean() < 0.03
    found = calibrate(comparisons, predictions)
    assert found.deals == 60 and sum(group.observed.n for group in found.groups) == len(true)
    assert len(found.groups) >= 6 and len(misses(found)) <= 1
    assert found.brier < found.brier_of_guess and found.log_loss < found.log_loss_of_guess
    assert found.gain.low > 0 and found.gain.value == pytest.approx(found.brier_of_guess - found.brier)


def test_calibrate_overconfident_predictions_are_shown():
    comparisons, true = drawn(60)
    sure = 1 / (1 + (1 / true - 1) ** 3)
    found = calibrate(comparisons, Predictions(sure, np.full(len(true), 0.5)))
    assert len(misses(found)) >= len(found.groups) - 2
    assert all(group.observed.high < group.predicted for group in misses(found))
    assert found.brier > calibrate(comparisons, Predictions(true, true)).brier


@pytest.mark.parametrize("chance", [0.79, 0.93, 0.97])
@pytest.mark.parametrize("results", [1, 2, 3, 5, 8])
def test_calibrate_few_results_hold_the_level(chance, results):
    def missed(won):
        score = np.array([1.0] * won + [0.0] * (results - won))
        seats = np.zeros(results, int), np.ones(results, int)
        predictions = Predictions(np.full(results, chance), np.full(results, 0.5))
        return misses(calibrate(Comparisons(("a", "b"), *seats, score, np.arange(results)), predictions))

    ways = [math.comb(results, won) * chance**won * (1 - chance) ** (results - won) for won in range(results + 1)]
    assert sum(way for won, way in enumerate(ways) if missed(won)) <= 0.05


def test_predict_equals_gain_nothing():
    comparisons, _ = drawn(40, strengths=np.zeros(5), seat=0.0)
    found = calibrate(comparisons, predict(comparisons))
    assert found.gain.low < 0.002 and found.brier > 0.99 * found.brier_of_guess
    assert max(group.predicted for group in found.groups) < 0.65


def test_predict_own_deal_is_held_out():
    comparisons, _ = drawn(30)
    own = comparisons.cluster == 7
    before = predict(comparisons)
    comparisons.score[own] = 1 - comparisons.score[own]
    after = predict(comparisons)
    assert np.array_equal(before.score[own], after.score[own]) and np.array_equal(before.guess[own], after.guess[own])
    assert not np.allclose(before.score[~own], after.score[~own], atol=1e-6)


def test_calibrate_scores_match_by_hand():
    comparisons = Comparisons(
        ("a", "b"), *np.array([[0, 1, 0, 0], [1, 0, 1, 1]]), np.array([1, 1, 0.5, 0]), np.arange(4)
    )
    predictions = Predictions(np.array([0.9, 0.2, 0.5, 0.5]), np.full(4, 0.6))
    found = calibrate(comparisons, predictions)
    assert found.brier == pytest.approx((0.01 + 0.64 + 0 + 0.25) / 4)
    assert found.brier_of_guess == pytest.approx((0.16 + 0.16 + 0.01 + 0.36) / 4)
    logs = math.log(0.9) + math.log(0.2) + 2 * math.log(0.5)
    assert found.log_loss == pytest.approx(-logs / 4)
    # The favourites: a with .9 (won), a with .8 (lost), and a, by name, twice with .5 (tied, lost).
    assert [group.predicted for group in found.groups] == pytest.approx([0.5, 0.8, 0.9])
    assert [(group.observed.value, group.observed.n) for group in found.groups] == [(0.25, 2), (0.0, 1), (1.0, 1)]


def test_calibrate_certain_predictions_have_finite_loss():
    sure = Predictions(np.array([1.0, 1.0, 0.0]), np.full(3, 0.5))
    seats = np.array([[0, 0, 1], [1, 1, 0]])
    found = calibrate(Comparisons(("a", "b"), *seats, np.array([1.0, 1.0, 0.0]), np.arange(3)), sure)
    assert found.log_loss == pytest.approx(0, abs=1e-9)
    wrong = calibrate(Comparisons(("a", "b"), *seats, np.array([1.0, 0.0, 0.0]), np.arange(3)), sure)
    assert 1 < wrong.log_loss < 20


def test_predict_single_deal_is_none():
    comparisons, _ = drawn(1)
    assert predict(comparisons) is None


def test_predict_unknown_seats_ignore_order_of_names():
    comparisons, _ = drawn(10, seat=0.0)
    won = comparisons.score >= 0.5
    winners_first = Comparisons(
        NAMES,
        np.where(won, comparisons.first, comparisons.second),
        np.where(won, comparisons.second, comparisons.first),
        np.maximum(comparisons.score, 1 - comparisons.score),
        comparisons.cluster,
        seated=False,
    )
    unseated = Comparisons(
        NAMES, *(getattr(comparisons, name) for name in ("first", "second", "score", "cluster")), seated=False
    )
    told, plain = (calibrate(results, predict(results)) for results in (winners_first, unseated))
    assert told.brier == pytest.approx(plain.brier) and told.brier_of_guess == pytest.approx(plain.brier_of_guess)
    assert [group.observed.value for group in told.groups] == pytest.approx(
        [group.observed.value for group in plain.groups]
    )
