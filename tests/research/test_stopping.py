"""The simulation of stop rules: its counts, and its vectorised evidence equals a run's."""

import numpy as np
import pytest

from rating.schemes.conditions import MatchEvidence
from rating.store.records import FINISHED, Outcome, SeatOutcome
from research import stopping


def test_simulations_evidence_equals_a_runs():
    rng = np.random.default_rng(1)
    games = stopping.Games(np.array([[0.0, 80.0, 150.0]]), 0.3, rng)
    evidence, number = MatchEvidence("abc", 1.0), 0
    for one, other in [(0, 1), (1, 2), (0, 2)] * 15:
        scores = games.play(np.array([one]), np.array([other]))
        games.add(np.array([one]), np.array([other]), scores)
        for first, second, score in ((one, other, float(scores[0, 0])), (other, one, 1 - float(scores[1, 0]))):
            seats = (SeatOutcome("abc"[first], 2 * score - 1), SeatOutcome("abc"[second], 1 - 2 * score))
            evidence.add([Outcome("game", number, number // 2, FINISHED, seats)])
            number += 1
    games.ratings()
    drawn = games.drawn(np.array([0]), 4000)[0]
    assert drawn.std(axis=0) == pytest.approx(evidence.posterior().draws.std(axis=0), rel=0.1)
