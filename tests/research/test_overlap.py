"""The simulation of overlapping batches: exact, repeatable, and consistent with its output."""

from dataclasses import replace

import pytest

from research.overlap import ENVIRONMENTS, Options, simulate

SMALL = Options(policies=4, slots=8, seeds=1)


@pytest.mark.slow
def test_overlapping_batches_end_sooner_with_the_same_matches():
    barrier, lagging = (simulate(SMALL, ENVIRONMENTS, 10, lag, seed=0) for lag in (1, 2))
    assert simulate(SMALL, ENVIRONMENTS, 10, 2, seed=0) == lagging
    assert lagging.matches - barrier.matches == 3 * 24  # a batch of two cycles in each environment
    assert lagging.seconds / lagging.work < barrier.seconds / barrier.work
    assert lagging.seconds >= lagging.work / SMALL.slots


@pytest.mark.slow
def test_one_slot_is_never_idle():
    done = simulate(replace(SMALL, slots=1), ENVIRONMENTS[:1], 10, 2, seed=1)
    assert abs(done.seconds - done.work) < 1e-6 * done.work
