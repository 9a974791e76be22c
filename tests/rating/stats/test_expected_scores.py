"""Win probabilities across environments, and mean scores against the opponents met."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from rating.stats.bradley_terry import BradleyTerryOptions, Comparisons, fit, fit_totals
from rating.stats.estimates import bounded_mean
from rating.stats.expected_scores import (
    NOBODY,
    CommonPolicies,
    established_scores,
    largest_pool,
    met_scores,
    win_probabilities,
)
from research.coverage.means import scores

OPTIONS = BradleyTerryOptions(seat_term=False)


def fitted(names, wins, games=40.0):
    table = np.array(wins, dtype=float)
    return fit_totals(names, table, np.where(np.eye(len(names)), 0.0, games), OPTIONS)


def test_largest_pool_is_the_largest_complete_table():
    assert largest_pool({"g": ("a", "b", "c"), "h": ("a", "b", "c")}) == CommonPolicies(("g", "h"), ("a", "b", "c"))
    # d plays where it is good only: it is left out, and no environment for its sake.
    assert largest_pool({"g": ("a", "b", "c", "d"), "h": ("a", "b", "c")}) == CommonPolicies(
        ("g", "h"), ("a", "b", "c")
    )
    # Only a and b play h: it is left out rather than c, d and e.
    assert largest_pool({"g": tuple("abcde"), "h": ("a", "b")}) == CommonPolicies(("g",), tuple("abcde"))
    assert largest_pool({"g": ("a", "b"), "h": ("a", "b"), "i": ("b", "c")}) == CommonPolicies(("g", "h"), ("a", "b"))
    assert largest_pool({"g": ("a",), "h": ("b",)}) == largest_pool({}) == NOBODY


def test_win_probabilities_match_by_hand():
    one, other = fitted(("a", "b"), [[0, 30], [10, 0]]), fitted(("a", "b"), [[0, 20], [20, 0]])
    found = win_probabilities({"g": one, "h": other}, CommonPolicies(("g", "h"), ("a", "b")))
    lead = one.ratings[0] - one.ratings[1]
    assert found["a"].value == pytest.approx((1 / (1 + 10 ** (-lead / 400)) + 0.5) / 2)
    assert found["a"].value + found["b"].value == pytest.approx(1)
    assert found["a"].low < 0.625 < found["a"].high and found["a"].low == pytest.approx(1 - found["b"].high)


def test_win_probabilities_others_are_left_out():
    strong = fitted(("a", "b", "z"), [[0, 20, 40], [20, 0, 40], [0, 0, 0]])
    found = win_probabilities({"g": strong}, CommonPolicies(("g",), ("a", "b")))
    assert found["a"].value == pytest.approx(0.5)


@pytest.mark.slow
def test_established_scores_hold_the_familywise_level():
    rng, pool, wrong = np.random.default_rng(6), CommonPolicies(("g", "h"), tuple("abcdef")), 0
    games = np.triu(np.full((6, 6), 40.0), 1)
    for _ in range(200):
        fits = {
            name: fit_totals(pool.policies, rng.binomial(40, games / 80).astype(float), games, OPTIONS) for name in "gh"
        }
        wrong += bool(established_scores(fits, pool))
    assert wrong / 200 < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)
    clear = fit_totals(tuple("ab"), np.array([[0.0, 35.0], [0.0, 0.0]]), np.array([[0.0, 40.0], [0.0, 0.0]]), OPTIONS)
    assert established_scores({"g": clear}, CommonPolicies(("g",), ("a", "b"))) == (("a", "b"),)


@pytest.mark.slow
def test_win_probabilities_intervals_cover_the_truth():
    rng = np.random.default_rng(5)
    truth = {"g": np.array([0.0, 0.5, 1.0, 1.2]), "h": np.array([0.3, 0.0, 1.5, 0.2])}
    pool = CommonPolicies(("g", "h"), tuple("abcd"))
    chances = {name: 1 / (1 + np.exp(x - x[:, None])) for name, x in truth.items()}
    expected = np.mean([(chance.sum(axis=1) - 0.5) / 3 for chance in chances.values()], axis=0)
    games, covered = 60, 0
    for _ in range(150):
        fits = {}
        for name, chance in chances.items():
            wins = np.zeros((4, 4))
            for i, j in itertools.combinations(range(4), 2):
                wins[i, j] = rng.binomial(games, chance[i, j])
            fits[name] = fit_totals(pool.policies, wins, np.triu(np.full((4, 4), float(games)), 1), OPTIONS)
        found = win_probabilities(fits, pool)
        covered += sum(
            found[name].low <= value <= found[name].high for name, value in zip(pool.policies, expected, strict=True)
        )
    assert 0.92 < covered / 600 < 0.98


FITTED_PRIOR = BradleyTerryOptions(prior_sd="fitted")


def of_pairs(names, wins, games):
    """Results of pairs, each game a deal of its own; ``wins`` of the first by pair of indices."""
    rows = [(i, j, float(game < won)) for (i, j), won in wins.items() for game in range(games)]
    first, second, score = (np.array(column) for column in zip(*rows, strict=True))
    return Comparisons(names, first, second, score, np.arange(len(rows)))


def found(data):
    return met_scores(data, fit(data, FITTED_PRIOR))


def test_met_scores_values_are_plain_means():
    data = of_pairs(("a", "b", "c"), {(0, 1): 10, (0, 2): 20, (1, 2): 20}, 20)
    rows = found(data)
    assert [rows[name].value for name in "abc"] == [0.75, 0.75, 0.0]
    assert (rows["a"].n, rows["a"].clusters) == (40, 40)
    plain = bounded_mean([1.0] * 30 + [0.0] * 10)
    assert rows["a"].high - rows["a"].low < 0.9 * (plain.high - plain.low)


def test_met_scores_unanimous_results_are_uncertain():
    rows = found(of_pairs(("a", "b"), {(0, 1): 12}, 12))
    assert 0.5 < rows["a"].low < 0.95 and rows["a"].high == rows["a"].value == 1
    assert rows["b"].low == 0 and rows["b"].high == pytest.approx(1 - rows["a"].low)


def test_met_scores_copies_of_a_deal_have_no_effect():
    data = of_pairs(("a", "b"), {(0, 1): 30}, 40)
    alike = Comparisons(
        data.policies, *(np.repeat(part, 4) for part in (data.first, data.second, data.score, data.cluster))
    )
    once, copied = found(data)["a"], found(alike)["a"]
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.1)
    few = replace(data, cluster=data.cluster % 4)
    assert (found(few)["a"].low, found(few)["a"].high) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize(("sd", "ties"), [(0, 0.0), (300, 0.5), (800, 0.0)])
def test_met_scores_intervals_cover_the_truth(sd, ties):
    rng = np.random.default_rng(sd)
    covered = [trial.covers for _ in range(40) for trial in scores(rng, sd=sd, deals=6, ties=ties)]
    assert 0.9 < np.mean(covered) < 0.99
