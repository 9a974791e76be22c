import math

import numpy as np
import pytest

from rating.statistics.estimates import mean_estimate
from rating.statistics.running_mean import RunningMean


def test_a_running_mean_knows_what_an_estimate_of_all_values_knows():
    rng = np.random.default_rng(0)
    values, deals = rng.normal(1e6, 2.0, 60), rng.integers(0, 15, 60)
    mean = RunningMean()
    for count, (value, deal) in enumerate(zip(values, deals, strict=True), start=1):
        mean.add(value, int(deal))
        expected = mean_estimate(values[:count], deals[:count])
        assert (mean.n, mean.deals) == (count, expected.clusters)
        assert mean.mean == pytest.approx(expected.value)
        half = math.inf if expected.high is None else expected.high - expected.value
        assert mean.half_width() == pytest.approx(half, rel=1e-6)


def test_a_value_without_a_deal_is_a_case_by_itself():
    mean, halves = RunningMean(), []
    for value in (0.1, 0.1, 0.3):
        mean.add(value)
        halves.append(mean.half_width())
    assert halves[:2] == [math.inf, 0.0]
    assert halves[2] == pytest.approx(4.30265 * 0.2 / 3, rel=1e-4)
    assert mean.deals == 3
    assert RunningMean().half_width() == math.inf
