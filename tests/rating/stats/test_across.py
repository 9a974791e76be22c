import itertools

import numpy as np
import pytest

from rating.stats.bradley_terry import BradleyTerryOptions, fit_totals
from rating.stats.expected_scores import NOBODY, CommonPolicies, established_scores, largest_pool, win_probabilities

OPTIONS = BradleyTerryOptions(seat_term=False)


def fitted(names, wins, games=40.0):
    table = np.array(wins, dtype=float)
    return fit_totals(names, table, np.where(np.eye(len(names)), 0.0, games), OPTIONS)


def test_the_largest_complete_table_is_compared():
    assert largest_pool({"g": ("a", "b", "c"), "h": ("a", "b", "c")}) == CommonPolicies(("g", "h"), ("a", "b", "c"))
    # d plays where it is good only: it is left out, and no environment for its sake.
    assert largest_pool({"g": ("a", "b", "c", "d"), "h": ("a", "b", "c")}) == CommonPolicies(
        ("g", "h"), ("a", "b", "c")
    )
    # Nobody but a and b plays h: it is left out rather than c, d and e.
    assert largest_pool({"g": tuple("abcde"), "h": ("a", "b")}) == CommonPolicies(("g",), tuple("abcde"))
    assert largest_pool({"g": ("a", "b"), "h": ("a", "b"), "i": ("b", "c")}) == CommonPolicies(("g", "h"), ("a", "b"))
    assert largest_pool({"g": ("a",), "h": ("b",)}) == largest_pool({}) == NOBODY


def test_two_policies_by_hand():
    one, other = fitted(("a", "b"), [[0, 30], [10, 0]]), fitted(("a", "b"), [[0, 20], [20, 0]])
    found = win_probabilities({"g": one, "h": other}, CommonPolicies(("g", "h"), ("a", "b")))
    lead = one.ratings[0] - one.ratings[1]
    assert found["a"].value == pytest.approx((1 / (1 + 10 ** (-lead / 400)) + 0.5) / 2)
    assert found["a"].value + found["b"].value == pytest.approx(1)
    assert found["a"].low < 0.625 < found["a"].high and found["a"].low == pytest.approx(1 - found["b"].high)


def test_who_is_outside_changes_nothing_but_the_fit():
    strong = fitted(("a", "b", "z"), [[0, 20, 40], [20, 0, 40], [0, 0, 0]])
    found = win_probabilities({"g": strong}, CommonPolicies(("g",), ("a", "b")))
    assert found["a"].value == pytest.approx(0.5)


def test_differences_between_scores_are_established_all_pairs_together():
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


def test_intervals_cover_the_truth():
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
