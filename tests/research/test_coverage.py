"""The simulation of intervals: known coverage is found, and rows are repeatable."""

from functools import partial

import numpy as np

from research.coverage.__main__ import ROWS
from research.coverage.trials import Setting, Trial, measure, trial


def normal_mean(rng, *, z):
    values = rng.normal(size=50)
    yield Trial(abs(values.mean()) <= z / np.sqrt(50), z / np.sqrt(50))


def test_measure_known_coverage_is_found():
    honest, narrow = (
        measure(Setting(name, partial(normal_mean, z=z)), 500, 0) for name, z in (("a", 1.96), ("b", 1.5))
    )
    assert abs(honest.coverage - 0.95) < 3 * honest.noise < 0.04 and honest.is_met
    assert abs(narrow.coverage - 0.866) < 3 * narrow.noise and not narrow.is_met


def test_measure_one_sided_interval_has_no_width():
    one_sided = Setting("", lambda rng: [trial(None, 1.0, 0.0), trial(3.0, 9.0, 2.0)])
    line = measure(one_sided, 2, 0)
    assert (line.coverage, line.half_width) == (0.5, 3.0)


def test_rows_are_repeatable_with_different_data():
    assert len({row.name for row in ROWS}) == len(ROWS)
    plain = ROWS[1]
    assert measure(plain, 3, 0) == measure(plain, 3, 0) != measure(plain, 3, 1)
