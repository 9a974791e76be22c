"""Penalised logistic regression in strata: values known by hand, small strata, separation."""

import numpy as np
import pytest
from scipy.optimize import minimize

from rating.statistics.firth import stratified_effect


def test_two_groups_have_the_odds_with_half_a_case_more_in_each_cell():
    # For one stratum and one group against another Firth's estimate adds 0.5 to each of the four counts.
    hits = np.array([1] * 7 + [0] * 3 + [1] * 2 + [0] * 9, dtype=bool)
    group = np.array([[1.0]] * 10 + [[0.0]] * 11)
    found = stratified_effect(hits, group, np.zeros(21, dtype=np.int64))
    assert found.value == pytest.approx(np.log(7.5 / 3.5 / (2.5 / 9.5)), abs=1e-5)
    assert found.low < found.value < found.high
    assert 0.01 < found.p < 0.05
    assert found.low > 0


def test_the_penalised_likelihood_is_at_its_greatest():
    rng = np.random.default_rng(0)
    strata = np.repeat(np.arange(3), 20)
    x = rng.normal(size=(60, 2)) + strata[:, None]
    hits = rng.random(60) < 1 / (1 + np.exp(-(x[:, 1] - strata)))
    design = np.column_stack([x, strata[:, None] == np.arange(3)])

    def loss(parameters):
        logits = design @ parameters
        p = 1 / (1 + np.exp(-logits))
        information = (design * (p * (1 - p))[:, None]).T @ design
        return np.logaddexp(0, np.where(hits, -logits, logits)).sum() - np.linalg.slogdet(information)[1] / 2

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-6})
    found = stratified_effect(hits, x, strata)
    assert found.value == pytest.approx(best.x[1], abs=1e-3)

    def profile(value):
        others = [0, 2, 3, 4]

        def at(free):
            parameters = np.zeros(5)
            parameters[others], parameters[1] = free, value
            return loss(parameters)

        return minimize(at, best.x[others], method="BFGS", options={"gtol": 1e-6}).fun

    for end in (found.low, found.high):
        assert profile(end) - best.fun == pytest.approx(3.841 / 2, abs=0.01)


def test_separated_outcomes_have_a_finite_interval():
    x = np.arange(-10.0, 10.0)[:, None] + 0.5
    found = stratified_effect(x[:, 0] > 0, x, np.zeros(20, dtype=np.int64))
    assert 0 < found.low < found.value < found.high < 100
    assert found.p < 1e-3


def test_covariates_that_tell_nothing_within_strata():
    strata = np.repeat(np.arange(10), 2)
    hits = np.tile([True, False], 10)
    level = strata[:, None].astype(float)
    alternating = np.tile([1.0, -1.0], 10)[:, None]
    assert stratified_effect(hits, level, strata) is None
    assert stratified_effect(hits, np.hstack([alternating, 3 * alternating]), strata) is None
    assert stratified_effect(hits, np.hstack([level, alternating]), strata).value > 0
