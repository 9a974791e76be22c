import math

import numpy as np
import pytest

from rating.stats.estimates import RunningMean, mean_estimate


def test_a_running_mean_knows_what_an_estimate_of_all_values_knows():
    rng = np.random.default_rng(0)
    values, deals = rng.normal(1e6, 2.0, 60), rng.integers(0, 15, 60)
    mean = RunningMean()
    for count, (value, deal) in enumerate(zip(values, deals, strict=True), start=1):
        mean.add(value, int(deal))
        expected = mean_estimate(values[:count], deals[:count])
        assert (mean.n, mean.deals) == (count, expected.clusters)
        assert mean.mean == pytest.approx(expected.value)
        if expected.high is not None:
            assert mean.half_width() == pytest.approx(expected.high - expected.value, rel=1e-6)
        assert math.isinf(mean.half_width()) == (mean.deals < 2)


def test_a_value_without_a_deal_is_a_case_by_itself():
    mean, halves = RunningMean(), []
    for value in (0.1, 0.1, 0.3):
        mean.add(value)
        halves.append(mean.half_width())
    assert halves[:2] == [math.inf, 0.0]
    assert halves[2] == pytest.approx(4.30265 * 0.2 / 3, rel=1e-4)
    assert mean.deals == 3
    assert RunningMean().half_width() == math.inf


def test_deals_that_are_alike_but_for_rounding_vary_nothing():
    mean = RunningMean()
    for deal in range(50):
        for value in (0.1, 0.2) if deal % 2 else (0.3, 0.0):
            mean.add(value, deal)
    assert mean.half_width() == 0.0
    mean.add(1e-9, 50)
    assert mean.half_width() > 0
