"""Bootstrap of ratings."""

import numpy as np
import pytest

from benchmarks.experiments.bootstrap import bootstrap
from rating.stats.bradley_terry import compare, fit
from tests.rating.made_outcomes import duel
from tests.rating.stats.test_bradley_terry import LIKELIHOOD, draw


def test_bootstrap_matches_analytic_errors():
    rng = np.random.default_rng(2)
    data = draw(rng.normal(0, 150, 6), 3000, rng)
    analytic = fit(data)
    for by_cluster in (False, True):
        resampled = bootstrap(data, resamples=400, by_cluster=by_cluster)
        assert resampled.shape == (400, 6)
        assert resampled.std(axis=0) == pytest.approx(analytic.errors, rel=0.2)
        assert resampled.mean(axis=0) == pytest.approx(analytic.ratings, abs=0.3 * analytic.errors.max())
    assert np.array_equal(bootstrap(data, resamples=5), bootstrap(data, resamples=5))
    assert not np.array_equal(bootstrap(data, resamples=5), bootstrap(data, resamples=5, seed=1))


def test_bootstrap_separable_resamples_are_finite():
    outcomes = [duel(number, "a", "b", "b" if number == 0 else "a") for number in range(6)]
    resampled = bootstrap(compare(outcomes), LIKELIHOOD, resamples=100)
    # A prior of its own keeps a resample that one side has won throughout within a few hundred Elo.
    assert np.all(np.abs(resampled - 1000) < 1000)


def test_bootstrap_order_of_results_has_no_effect():
    data = draw(np.array([0.0, 90.0, 170.0]), 200, np.random.default_rng(4), ties=0.2)
    order = np.random.default_rng(5).permutation(200)
    assert np.array_equal(bootstrap(data, resamples=5), bootstrap(data.select(order), resamples=5))
