"""Ties as a result of their own."""

import numpy as np
import pytest
from scipy.optimize import minimize

from rating.statistics.battles import Battle, comparisons_of
from rating.statistics.bradley_terry import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    Comparisons,
    bootstrap,
    clustered,
    fit,
    fit_counts,
    fit_totals,
    standings,
)

DAVIDSON = BradleyTerryOptions(ties="davidson")


def draw(strengths, games, rng, tie=0.0, seat=0.0):
    size = len(strengths)
    first = rng.integers(size, size=games)
    second = (first + rng.integers(1, size, size=games)) % size
    lead = (strengths[first] - strengths[second] + seat) / ELO_PER_NAT
    odds = np.exp(np.array([lead / 2, np.full(games, tie), -lead / 2]))
    drawn = (rng.random(games) > (odds / odds.sum(axis=0)).cumsum(axis=0)).sum(axis=0)
    score = np.array([1.0, 0.5, 0.0])[drawn]
    return Comparisons(tuple("abcdefgh"[:size]), first, second, score, np.arange(games))


def negative_log_posterior(y, data, options):
    x, seat, tie = y[:-2], y[-2], y[-1]
    lead = x[data.first] - x[data.second] + seat
    odds = np.array([-lead / 2, np.full(len(lead), tie), lead / 2])
    chosen = odds[np.rint(2 * data.score).astype(int), np.arange(len(lead))]
    prior = (x @ x + seat**2) * (ELO_PER_NAT / options.prior_sd) ** 2 + 0.01 * tie**2
    return prior / 2 - (chosen - np.logaddexp.reduce(odds, axis=0)).sum()


@pytest.mark.parametrize("seed", range(2))
def test_davidson_is_the_maximum_that_scipy_finds(seed):
    rng = np.random.default_rng(seed)
    data = draw(rng.normal(0, 200, 6), 400, rng, tie=0.3, seat=100)
    fitted = fit(data, DAVIDSON)
    theirs = minimize(negative_log_posterior, np.zeros(8), (data, DAVIDSON), method="BFGS", options={"gtol": 1e-7})
    mine = [*(fitted.ratings - MEAN_RATING) / ELO_PER_NAT, fitted.seat_advantage / ELO_PER_NAT, fitted.tie_term]
    np.testing.assert_allclose(mine, theirs.x, atol=1e-4)


def test_what_was_put_in_is_found_and_the_order_is_that_of_halves():
    rng = np.random.default_rng(7)
    strengths = np.linspace(-300, 300, 8)
    data = draw(strengths, 20_000, rng, tie=0.5, seat=60)
    fitted, halves = fit(data, DAVIDSON), fit(data)
    assert fitted.tie_term == pytest.approx(0.5, abs=0.06)
    assert np.abs(fitted.ratings - 1000 - strengths).max() < 4 * fitted.errors.max() < 40
    assert fitted.seat_advantage == pytest.approx(60, abs=4 * fitted.seat_error)
    assert np.argsort(fitted.ratings).tolist() == np.argsort(halves.ratings).tolist() == list(range(8))
    assert halves.ratings.std() < 0.9 * fitted.ratings.std()  # the scale of the expected score
    np.testing.assert_allclose(clustered(fitted, data).errors, fitted.errors, rtol=0.1)
    assert standings(data, DAVIDSON).dispersion == pytest.approx(1, abs=0.05)


def test_only_ties_and_no_ties_are_finite():
    for score in (0.5, 1.0):
        fitted = fit(comparisons_of([Battle("a", "b", score)] * 10 + [Battle("b", "a", score)] * 10), DAVIDSON)
        assert np.all(np.isfinite(fitted.ratings)) and np.isfinite(fitted.tie_term)
        assert (fitted.tie_term > 2) == (score == 0.5)


def test_counts_give_what_results_give():
    data = draw(np.array([0.0, 100, -100]), 300, np.random.default_rng(1))
    counts = np.zeros((3, 3, 3), dtype=np.int64)
    np.add.at(counts, (data.first, data.second, np.rint(2 * data.score).astype(int)), 1)
    assert fit_counts(data.policies, counts, DAVIDSON).ratings.tobytes() == fit(data, DAVIDSON).ratings.tobytes()


def test_what_ties_cannot_be_told_from_is_refused():
    fractions = comparisons_of([Battle("a", "b", 0.7)])
    with pytest.raises(ValueError, match="fractions"):
        fit(fractions, DAVIDSON)
    with pytest.raises(ValueError, match="results are needed"):
        fit_totals("ab", np.zeros((2, 2)), np.zeros((2, 2)), DAVIDSON)
    with pytest.raises(ValueError, match="resampling"):
        bootstrap(comparisons_of([Battle("a", "b", 1.0)]), DAVIDSON)
