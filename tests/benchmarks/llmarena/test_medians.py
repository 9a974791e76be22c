"""Medians and their intervals."""

import numpy as np
import pytest

from benchmarks.llmarena.medians import median_estimate


def test_the_median_and_its_interval_do_not_depend_on_the_order():
    values, clusters = [3.0, 1.0, 2.0, 9.0, 5.0, 4.0, 8.0], [0, 1, 2, 3, 4, 5, 6]
    estimate = median_estimate(values, clusters)
    assert (estimate.value, estimate.n, estimate.clusters) == (4.0, 7, 7)
    assert 1.0 <= estimate.low < 4.0 < estimate.high <= 9.0
    assert median_estimate(values[::-1], clusters[::-1]) == estimate


def test_few_clusters_have_no_interval():
    estimate = median_estimate([0.0, 1.0] * 5, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    assert (estimate.value, estimate.low, estimate.high, estimate.clusters) == (0.5, None, None, 5)
    assert median_estimate([], []) is None
    with pytest.raises(ValueError, match="one for each of 1 values, got 2"):
        median_estimate([1.0], [0, 1])
    with pytest.raises(ValueError, match="finite"):
        median_estimate([float("nan")], [0])


@pytest.mark.slow
def test_the_interval_covers_the_median_of_clustered_values():
    rng = np.random.default_rng(1)
    covered = {"clustered": 0, "as if independent": 0}
    for _ in range(100):
        common = rng.normal(size=40)
        values = [float(value) for centre in common for value in centre + 0.1 * rng.normal(size=4)]
        clusters = [cluster for cluster in range(40) for _ in range(4)]
        for name, groups in (("clustered", clusters), ("as if independent", list(range(160)))):
            estimate = median_estimate(values, groups, resamples=200)
            covered[name] += estimate.low <= 0 <= estimate.high
    assert covered["clustered"] >= 88
    assert covered["as if independent"] < 80
