"""Bets on scores: by hand, and by simulation of the guarantees under optional stopping."""

import numpy as np
import pytest

from rating.stats.betting import BETS, CAPITAL, MOST, e_value, final_log_evidence, log_evidence, lower_bound


def test_log_evidence_matches_by_hand():
    found = np.exp(log_evidence(np.array([1.0, 0.0, 0.5]), 0.5))
    assert found == pytest.approx([CAPITAL @ (1 + BETS), CAPITAL @ (1 - BETS**2), CAPITAL @ (1 - BETS**2)])
    assert np.exp(log_evidence(np.array([1.0]), 0.8)) == pytest.approx(CAPITAL @ (1 + BETS / 4))
    assert np.exp(log_evidence(np.array([1.0]), 0.5, np.array([0.25]))) == pytest.approx(CAPITAL @ (1 + BETS / 4))


def test_log_evidence_at_the_bound_has_no_expected_gain():
    scores, chances = np.array([0.0, 0.3, 1.0]), np.array([0.28, 0.6, 0.12])
    factors = [np.exp(log_evidence(np.array([score]), float(scores @ chances))) for score in scores]
    assert chances @ np.concatenate(factors) == pytest.approx(1)


def test_final_log_evidence_order_has_no_effect():
    scores = np.random.default_rng(0).random(500)
    weights = np.linspace(0.1, 1, 500)
    final = final_log_evidence(scores, 0.4, weights)
    assert final == final_log_evidence(scores[::-1], 0.4, weights[::-1])
    assert final == pytest.approx(log_evidence(scores, 0.4, weights)[-1])
    assert final_log_evidence(np.tile([1, 0, 0.5], 9), 0.4) == pytest.approx(
        log_evidence(np.tile([1, 0, 0.5], 9), 0.4)[-1]
    )
    assert e_value(float(log_evidence(np.ones(5_000), 0.5)[-1])) == pytest.approx(MOST)
    assert np.isfinite(log_evidence(np.zeros(5_000), 0.5)).all()


def test_lower_bound_refuted_bounds_stay_refuted():
    scores = np.random.default_rng(1).binomial(2, 0.7, 60) / 2
    bounds = [lower_bound(scores, level) for level in (0.3, 0.1, 0.05, 0.001)]
    assert bounds == sorted(bounds, reverse=True) and 0 < bounds[-1] < bounds[0] < scores.mean()
    assert log_evidence(scores, bounds[2]).max() >= np.log(20) > log_evidence(scores, bounds[2] + 1e-5).max()
    assert lower_bound(scores, 0.05) >= max(lower_bound(scores[:n], 0.05) for n in range(1, 60)) - 1e-6
    assert lower_bound(np.concatenate([scores, np.zeros(60)]), 0.05) >= bounds[2] - 1e-6  # a refuted mean stays refuted
    assert lower_bound(np.concatenate([scores, np.zeros(60)]), 0.05, ever=False) < 0.5
    assert lower_bound(np.array([]), 0.05) == lower_bound(np.zeros(100), 0.05) == 0


def _binary(rng, shape):
    return rng.integers(0, 2, shape).astype(float)


def _skewed(rng, shape):
    return np.where(rng.random(shape) < 0.1, 1.0, 4 / 9)


def _scattering_after_losses(rng, shape):
    scores = np.full(shape, 0.5)
    for t in range(1, shape[1]):
        spread = np.where(scores[:, :t].mean(axis=1) < 0.5, 0.5, 0.1)
        scores[:, t] = 0.5 + spread * rng.choice([-1, 1], shape[0])
    return scores


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("draw", [_binary, _skewed, _scattering_after_losses])
def test_log_evidence_any_stopping_holds_level(draw):
    scores = draw(np.random.default_rng(2), (400, 400))
    for level in (0.2, 0.05):
        alarms = (log_evidence(scores, 0.5).max(axis=1) >= -np.log(level)).mean()
        assert alarms <= level + 2.5 * np.sqrt(level * (1 - level) / 400)
    assert (np.exp(log_evidence(scores, 0.5)[:, -1])).mean() < 1.5


@pytest.mark.slow
def test_lower_bound_holds_at_all_times():
    rng = np.random.default_rng(3)
    scores = rng.binomial(2, 0.65, (200, 300)) / 2
    missed = sum(lower_bound(row, 0.1) > 0.65 for row in scores)
    assert missed <= 32
    assert np.mean([lower_bound(row, 0.1) for row in scores]) > 0.57  # it is of use, too
