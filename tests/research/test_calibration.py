"""The simulation of predictions."""

import numpy as np
import pytest

from research.calibration import Options, measure
from research.pools import POOLS
from research.transitivity import Setting


@pytest.mark.slow
def test_measure_right_ratings_predict_and_circle_does_not():
    options = Options(runs=5)
    right = measure(Setting("", POOLS["A"], 10), options)
    circle = measure(Setting("", np.zeros(3), 20, circle=300.0), options)
    assert right.off < 0.1 and right.better == 1 and right.gain > 0.05
    assert circle.off > right.off and circle.better == 0
