"""The simulation of comparisons: repeatable, with nulls that are ones, and designs of fixed size as in the books."""

import numpy as np
import pytest

from research.false_alarms import NULLS, Options, alarms, fixed_size, pairs, z_values

SMALL = Options(runs=60, looks=300)


@pytest.mark.parametrize("null", NULLS)
def test_neither_is_better(null):
    scores = NULLS[null](np.random.default_rng(5), 400, 100)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores.mean() == pytest.approx(0.5, abs=4 * scores.std() / 200)


def test_alarms_only_bets_hold_at_any_look():
    found = alarms("no ties", SMALL)
    assert found == alarms("no ties", SMALL)
    assert found.betting < 0.15 < 0.25 < found.peeking
    assert found.once < found.peeking


def test_pairs_until_decided():
    found = pairs(0.2, 0.0, SMALL)
    assert 20 < found.mean < found.most < 100
    assert (found.wrong, found.two_sided > found.one_sided) == (0, True)
    assert fixed_size(0.5, 1.0, 0.025) == 43  # the usual 42.03 for half a standard deviation with 90 % power


def test_z_values():
    assert z_values(np.array([[1.0, 0.0, 1.0, 1.0]]))[0] == pytest.approx([0, 0, 0.5, 1])
