"""Ratings with length, style or role held equal."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from rating.statistics.battles import Battle, comparisons_of
from rating.statistics.bradley_terry import (
    ELO_PER_NAT,
    BradleyTerryOptions,
    Comparisons,
    Term,
    clustered,
    fit,
    fit_terms,
)
from rating.statistics.estimates import Z_95


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
        held = fit_terms(data, [Term("length", longer)])
        order["held"].append(spearmanr(held.fitted.ratings, strengths)[0])
        order["ignored"].append(spearmanr(fit(data).ratings, strengths)[0])
        truth = 1000 + strengths - strengths.mean()
        hits.append(np.abs(held.fitted.ratings - truth) <= Z_95 * held.fitted.errors)
        effects.append(abs(held.effects[0].value - 120) <= Z_95 * held.effects[0].error)
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
    held = fit_terms(data, [Term("attacker", role)], BradleyTerryOptions("fitted"))
    assert held.effects[0].value == pytest.approx(150, abs=4 * held.effects[0].error)
    assert held.fitted.ratings - 1000 == pytest.approx(strengths, abs=20)


def test_without_terms_it_is_the_fit_clustered():
    data, _, _ = confounded(np.random.default_rng(2), games=200)
    fitted = fit_terms(data, []).fitted
    plain = clustered(fit(data), data)
    np.testing.assert_allclose(fitted.ratings, plain.ratings)
    np.testing.assert_allclose(fitted.covariance, plain.covariance, atol=1e-6)
    assert (fitted.seat_advantage, fitted.seat_error) == pytest.approx((plain.seat_advantage, plain.seat_error))
    assert fitted.clusters == plain.clusters == 200


def test_any_order_of_the_log_gives_the_same_bytes():
    data, longer, _ = confounded(np.random.default_rng(3), games=300)
    order = np.random.default_rng(4).permutation(300)
    one, other = (fit_terms(data.select(how), [Term("length", longer[how])]) for how in (np.arange(300), order))
    assert one.effects == other.effects
    assert one.fitted.ratings.tobytes() == other.fitted.ratings.tobytes()
    assert one.fitted.covariance.tobytes() == other.fitted.covariance.tobytes()


def test_a_term_that_decides_everything_is_finite_and_a_bad_one_refused():
    data = comparisons_of([Battle("a", "b", 1.0), Battle("b", "a", 0.0), Battle("a", "b", 0.0)])
    separating = fit_terms(data, [Term("length", np.array([9.0, -9.0, -9.0]))])
    assert np.isfinite(separating.effects[0].value) and np.all(np.isfinite(separating.fitted.errors))
    for values, prior_sd, words in (
        (np.zeros(2), 1.0, "each of 3 results"),
        (np.array([0, np.nan, 0]), 1.0, "1 that are not finite"),
        (np.zeros(3), 0.0, "positive prior_sd"),
    ):
        with pytest.raises(ValueError, match=words):
            fit_terms(data, [Term("length", values, prior_sd)])
    with pytest.raises(ValueError, match="davidson"):
        fit_terms(data, [], BradleyTerryOptions(ties="davidson"))
