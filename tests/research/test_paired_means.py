"""The simulation of differences of means: repeatable and complete."""

from functools import partial

import numpy as np

from research.paired_means import Options, drawn, measure


def test_clear_differences_are_found_by_all():
    row = measure("clear", partial(drawn, deals=20, policies=2, lead=9.0), Options(runs=5))
    assert (row.ranks, row.tests, row.intervals) == (1, 1, 1)
    assert row == measure("clear", partial(drawn, deals=20, policies=2, lead=9.0), Options(runs=5))


def test_skewed_noise_has_the_mean_of_equals():
    values = drawn(np.random.default_rng(0), deals=20_000, policies=2, is_skewed=True)
    assert abs(np.diff(values.mean(axis=0))[0]) < 0.05
