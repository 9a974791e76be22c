"""The simulation of non-transitive pools."""

import numpy as np

from research.transitivity import Setting, play


def test_cycle_is_simulated_with_the_given_strength():
    results = play(Setting("", np.zeros(4), 400, circle=2000.0), np.random.default_rng(1))
    share = {
        (one, other): results.score[(results.first == one) & (results.second == other)].mean()
        for one, other in ((0, 1), (1, 0), (1, 2), (2, 0), (0, 2), (0, 3))
    }
    assert all(share[pair] > 0.99 for pair in ((0, 1), (1, 2), (2, 0)))
    assert all(share[pair] < 0.01 for pair in ((1, 0), (0, 2)))
    assert 0.4 < share[0, 3] < 0.6
