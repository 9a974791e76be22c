"""Mean scores with intervals that know whom a policy met."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.performance.score_means import scores
from rating.stats.bradley_terry import BradleyTerryOptions, Comparisons, fit
from rating.stats.estimates import bounded_mean
from rating.stats.expected_scores import met_scores

OPTIONS = BradleyTerryOptions(prior_sd="fitted")


def of_pairs(names, wins, games):
    """Results of pairs, each game a deal of its own; ``wins`` of the first by pair of indices."""
    rows = [(i, j, float(game < won)) for (i, j), won in wins.items() for game in range(games)]
    first, second, score = (np.array(column) for column in zip(*rows, strict=True))
    return Comparisons(names, first, second, score, np.arange(len(rows)))


def found(data):
    return met_scores(data, fit(data, OPTIONS))


def test_values_are_plain_means_and_a_strong_opponent_costs_no_certainty():
    data = of_pairs(("a", "b", "c"), {(0, 1): 10, (0, 2): 20, (1, 2): 20}, 20)
    rows = found(data)
    assert [rows[name].value for name in "abc"] == [0.75, 0.75, 0.0]
    assert (rows["a"].n, rows["a"].clusters) == (40, 40)
    plain = bounded_mean([1.0] * 30 + [0.0] * 10)
    assert rows["a"].high - rows["a"].low < 0.9 * (plain.high - plain.low)


def test_unanimous_results_are_not_certain_and_stay_on_the_scale():
    rows = found(of_pairs(("a", "b"), {(0, 1): 12}, 12))
    assert 0.5 < rows["a"].low < 0.95 and rows["a"].high == rows["a"].value == 1
    assert rows["b"].low == 0 and rows["b"].high == pytest.approx(1 - rows["a"].low)


def test_matches_of_a_deal_are_not_independent():
    data = of_pairs(("a", "b"), {(0, 1): 30}, 40)
    alike = Comparisons(
        data.policies, *(np.repeat(part, 4) for part in (data.first, data.second, data.score, data.cluster))
    )
    once, copied = found(data)["a"], found(alike)["a"]
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.1)
    few = replace(data, cluster=data.cluster % 4)
    assert (found(few)["a"].low, found(few)["a"].high) == (None, None)


@pytest.mark.parametrize(("sd", "ties"), [(0, 0.0), (300, 0.5), (800, 0.0)])
def test_intervals_hold_the_mean_score_against_those_met(sd, ties):
    rng = np.random.default_rng(sd)
    covered = [trial.covers for _ in range(40) for trial in scores(rng, sd=sd, deals=6, ties=ties)]
    assert 0.9 < np.mean(covered) < 0.99
