"""Claims about many differences at once."""

import numpy as np
import pytest

from rating.stats.simultaneous import holm, step_down


def nulls(size, draws=4000, seed=0):
    values = np.random.default_rng(seed).normal(size=(draws, size))
    first, second = np.triu_indices(size, 1)
    return np.abs(values[:, first] - values[:, second]) / np.sqrt(2)


@pytest.mark.parametrize(("size", "studentized_range"), [(2, 2.772), (4, 3.633), (10, 4.474)])
def test_step_down_of_equals_has_the_critical_value_of_tukey(size, studentized_range):
    drawn = nulls(size, 40_000)
    critical = studentized_range / np.sqrt(2)
    statistics = np.zeros(drawn.shape[1])
    for offset, expected in ((-0.05, False), (0.05, True)):
        statistics[0] = critical + offset
        assert step_down(statistics, drawn)[0] == expected


def test_step_down_rejects_more_once_others_are_rejected():
    drawn = np.abs(np.random.default_rng(1).normal(size=(20_000, 50)))
    alone = np.full(50, 2.2)
    assert not step_down(alone, drawn).any()
    assert step_down(np.r_[np.full(49, 9.0), 2.2], drawn).all()


def test_step_down_of_nothing_is_nothing():
    assert not len(step_down(np.zeros(0), np.zeros((100, 0))))


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
