import itertools

import numpy as np
import pytest

from rating.stats.roles import TeamResult, plus_minus

SKILL = {"a": 3.0, "b": 1.0, "c": -1.0, "d": -3.0}


def cross_play(deals, noise=0.0, seed=0, skill=SKILL):
    rng = np.random.default_rng(seed)
    return [
        TeamResult(pair, 10.0 + 5 * deal + sum(skill[name] for name in pair) + noise * rng.normal(), deal)
        for deal in range(deals)
        for pair in itertools.permutations(skill, 2)
    ]


def test_what_each_adds_is_told_from_partners_and_deals():
    found = plus_minus(cross_play(3))
    assert {name: one.value for name, one in found.items()} == pytest.approx(SKILL)
    assert all(
        (one.low, one.n, one.clusters) == (None, 18, 3) for one in found.values()
    )  # without noise nothing varies
    mean = {name: np.mean([r.value for r in unfair() if name in r.members]) for name in SKILL}
    assert mean["d"] > mean["a"]
    assert {name: one.value for name, one in plus_minus(unfair()).items()} == pytest.approx(SKILL)


def unfair():
    """The strong play the poor deals, the weak the rich ones, and all meet on some."""
    return [
        result
        for result in cross_play(12)
        if result.deal == 6 or ("a" in result.members if result.deal < 6 else "d" in result.members)
    ]


def test_order_does_not_matter_and_larger_teams_are_as_good():
    results = cross_play(4, noise=1.0)
    assert plus_minus(results[::-1]) == plus_minus(results)
    teams = [
        TeamResult(team, 2.0 * deal + sum(SKILL[name] for name in team), deal)
        for deal in range(2)
        for team in itertools.combinations_with_replacement(SKILL, 3)
    ]
    assert {name: one.value for name, one in plus_minus(teams).items()} == pytest.approx(SKILL)


def test_who_is_not_told_apart_has_no_value():
    assert plus_minus([]) == {}
    assert plus_minus([TeamResult(("a", "b"), float(deal), deal) for deal in range(5)]) == {}
    assert plus_minus([TeamResult(("a", "a"), 1.0, 0), TeamResult(("b", "b"), 2.0, 1)]) == {}
    apart = plus_minus([TeamResult(("a", "a"), 3.0, 0), TeamResult(("a", "b"), 2.0, 0)])
    assert {name: (one.value, one.low) for name, one in apart.items()} == {
        "a": (pytest.approx(0.5), None),
        "b": (pytest.approx(-0.5), None),
    }


def test_intervals_hold_with_few_deals_and_missing_matches():
    hits = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        deals = rng.normal(size=(6, 4)) * 2  # what a policy makes of a deal is common to its matches on it
        results = [
            one._replace(value=one.value + sum(deals[one.deal]["abcd".index(name)] for name in one.members))
            for one in cross_play(6, noise=1.0, seed=seed)
            if rng.random() < 0.8
        ]
        found = plus_minus(results)
        hits += [one.low <= SKILL[name] <= one.high for name, one in found.items()]
    assert 0.92 <= np.mean(hits) <= 0.99
