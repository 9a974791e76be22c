"""Ratings with length, style or role held equal."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from rating.stats.bradley_terry import DEFAULT_PRIOR_SD, ELO_PER_NAT, BradleyTerryOptions, Comparisons, clustered, fit
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import Battle
from rating.stats.style import Term, _fit_terms


def confounded(rng, *, effect=120.0, size=10, games=1500):
    """Results that length decides as well, where the weaker policies write more."""
    strengths = rng.normal(0, 100, size)
    wordy = -0.008 * strengths + rng.normal(0, 0.5, size)
    first = rng.integers(size, size=games)
    second = (first + rng.integers(1, size, size=games)) % size
    longer = wordy[first] - wordy[second] + rng.normal(0, 1, games)
    lead = (strengths[first] - strengths[second] + effect * longer) / ELO_PER_NAT
    score = (rng.random(games) < 1 / (1 + np.exp(-lead))).astype(float)
    names = tuple("abcdefghij"[:size])
    return Comparisons(names, first, second, score, np.arange(games)), longer, strengths


def test_what_length_hid_is_found():
    rng = np.random.default_rng(0)
    order, hits, effects = {"held": [], "ignored": []}, [], []
    for _ in range(40):
        data, longer, strengths = confounded(rng)
        held = _fit_terms(data, [Term("length", longer)])
        order["held"].append(spearmanr(held.fitted.ratings, strengths)[0])
        order["ignored"].append(spearmanr(fit(data).ratings, strengths)[0])
        truth = 1000 + strengths - strengths.mean()
        hits.append(np.abs(held.fitted.ratings - truth) <= held.fitted.reach * held.fitted.errors)
        effects.append(abs(held.effects[0].value - 120) <= held.fitted.reach * held.effects[0].error)
    assert np.mean(order["held"]) > 0.9 > 0.4 > np.mean(order["ignored"])
    assert 0.9 <= np.mean(hits) <= 0.99 and np.mean(effects) >= 0.85


def test_a_role_that_helps_is_held_equal():
    rng = np.random.default_rng(1)
    strengths, games = np.array([100.0, 0.0, -100.0]), 6000
    first = rng.integers(3, size=games)
    second = (first + rng.integers(1, 3, size=games)) % 3
    role = np.where(
        rng.random(games) < 0.5 + 0.002 * strengths[second], 1.0, -1.0
    )  # the weak more often have the good role
    chance = 1 / (1 + np.exp(-(strengths[first] - strengths[second] + 150 * role) / ELO_PER_NAT))
    data = Comparisons(("a", "b", "c"), first, second, (rng.random(games) < chance).astype(float), np.arange(games))
    held = _fit_terms(data, [Term("attacker", role)], BradleyTerryOptions("fitted"))
    assert held.effects[0].value == pytest.approx(150, abs=4 * held.effects[0].error)
    assert held.fitted.ratings - 1000 == pytest.approx(strengths, abs=20)


def test_without_terms_it_is_the_fit_clustered():
    data, _, _ = confounded(np.random.default_rng(2), games=200)
    fitted = _fit_terms(data, []).fitted
    plain = clustered(fit(data), data)
    np.testing.assert_allclose(fitted.ratings, plain.ratings)
    np.testing.assert_allclose(fitted.covariance, plain.covariance, atol=1e-6)
    assert (fitted.seat_advantage, fitted.seat_error) == pytest.approx((plain.seat_advantage, plain.seat_error))
    assert fitted.clusters == plain.clusters == 200


def test_errors_are_those_of_leaving_out_each_deal():
    rng = np.random.default_rng(6)
    data, longer, _ = confounded(rng, size=4, games=200)
    # Deals of one result, of several, and of more than there are parameters.
    data = replace(data, cluster=np.array([min(game // 9, 15) if game > 40 else 100 + game for game in range(200)]))
    options = BradleyTerryOptions(200.0)
    held = _fit_terms(data, [Term("length", longer)], options)
    x = np.r_[held.fitted.ratings - 1000, held.fitted.seat_advantage, held.effects[0].value] / ELO_PER_NAT
    rows = np.column_stack((np.eye(4)[data.first] - np.eye(4)[data.second], np.ones(200), longer))
    p = 1 / (1 + np.exp(-(rows @ x)))
    prior = np.diag((ELO_PER_NAT / np.r_[np.full(4, 200.0), DEFAULT_PRIOR_SD, DEFAULT_PRIOR_SD]) ** 2)
    curvature = rows.T @ ((p * (1 - p))[:, None] * rows) + prior
    inverse, squares, deals = np.linalg.inv(curvature), np.zeros((6, 6)), np.unique(data.cluster)
    for deal in deals:
        own = data.cluster == deal
        information = rows[own].T @ ((p * (1 - p))[own, None] * rows[own])
        moved = np.linalg.solve(curvature - information, rows[own].T @ (data.score - p)[own])
        squares += np.outer(moved, moved)
    expected = (1 - 1 / len(deals)) * squares + inverse @ prior @ inverse
    assert held.effects[0].error == pytest.approx(ELO_PER_NAT * expected[5, 5] ** 0.5)
    assert held.fitted.seat_error == pytest.approx(ELO_PER_NAT * expected[4, 4] ** 0.5)
    assert held.fitted.clusters == len(deals)


def test_any_order_of_the_log_gives_the_same_bytes():
    data, longer, _ = confounded(np.random.default_rng(3), games=300)
    data = replace(data, cluster=data.cluster // 3)
    order = np.random.default_rng(4).permutation(300)
    one, other = (_fit_terms(data.select(how), [Term("length", longer[how])]) for how in (np.arange(300), order))
    assert one.effects == other.effects
    assert one.fitted.ratings.tobytes() == other.fitted.ratings.tobytes()
    assert one.fitted.covariance.tobytes() == other.fitted.covariance.tobytes()


def test_a_term_that_decides_everything_is_finite():
    data = comparisons_of([Battle("a", "b", 1.0), Battle("b", "a", 0.0), Battle("a", "b", 0.0)])
    separating = _fit_terms(data, [Term("length", np.array([9.0, -9.0, -9.0]))])
    assert np.isfinite(separating.effects[0].value) and np.all(np.isfinite(separating.fitted.errors))


def test_what_cannot_be_fitted_is_refused():
    data = comparisons_of([Battle("a", "b", 1.0), Battle("b", "a", 0.0), Battle("a", "b", 0.0)])
    with pytest.raises(ValueError, match="each of 3 results"):
        _fit_terms(data, [Term("length", np.zeros(2))])
    with pytest.raises(ValueError, match="1 that are not finite"):
        _fit_terms(data, [Term("length", np.array([0, np.nan, 0]))])
    with pytest.raises(ValueError, match="prior_sd: expected a number or 'fitted'"):
        _fit_terms(data, [], BradleyTerryOptions(prior_sd=None))
    with pytest.raises(ValueError, match="two or more, from which errors are estimated, got 1"):
        _fit_terms(replace(data, cluster=np.zeros(3, dtype=np.int64)), [])
