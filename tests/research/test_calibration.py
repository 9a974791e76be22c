"""The simulation of predictions."""

import numpy as np

from research.calibration import Options, main, measure
from research.pools import pool
from research.transitivity import Setting


def test_right_ratings_are_met_and_those_of_a_circle_predict_nothing():
    options = Options(runs=5)
    right = measure(Setting("", pool("A"), 10), options)
    circle = measure(Setting("", np.zeros(3), 20, circle=300.0), options)
    assert right.off < 0.1 and right.better == 1 and right.gain > 0.05
    assert circle.off > right.off and circle.better == 0


def test_the_table(capsys):
    lines = main(Options(smoke=True, runs=1))
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(lines)
