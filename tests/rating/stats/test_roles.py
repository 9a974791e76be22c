"""Skill by role and plus-minus."""

import itertools

import numpy as np
import pytest
from scipy.stats import spearmanr

from rating.stats.roles import RoleMatch, TeamResult, plus_minus, role_skills

HUNTED, HUNTER = "hunted", "hunter"


def play(rng, hunted, hunters, skill, bias=-0.4, deal=0):
    lead = bias + skill[hunted][0] - np.mean([skill[name][1] for name in hunters])
    score = float(rng.random() < 1 / (1 + np.exp(-lead)))
    return RoleMatch(((hunted, HUNTED),), tuple((name, HUNTER) for name in hunters), score, deal)


def pool(rng, size):
    skill = rng.normal(size=(size, 2)) @ np.array([[1.0, 0.5], [0.0, 0.87]])
    return {f"p{index:02}": row for index, row in enumerate(skill)}


def mixed_log(seed, size=10, matches=400, apart=0.0):
    """Tables of five; the share ``apart`` of them seats either the stronger or the weaker half."""
    rng = np.random.default_rng(seed)
    skill = pool(rng, size)
    names = np.array(sorted(skill, key=lambda name: skill[name].sum()))
    log = []
    for deal in range(matches):
        seated = rng.permutation(names)
        if rng.random() < apart:
            seated = rng.permutation(np.array_split(names, 2)[deal % 2])
        hunted, *hunters = seated[:5].tolist()
        log.append(play(rng, hunted, hunters, skill, deal=deal))
    return skill, log


def test_role_skills_mixed_tables_order_better_than_wins():
    by_skill, by_wins = [], []
    for seed in range(6):
        skill, log = mixed_log(seed, apart=0.7)
        found = role_skills(log)
        truth = [skill[name].mean() for name in sorted(skill)]
        wins = {name: ([], []) for name in skill}
        for match in log:
            wins[match.first[0][0]][0].append(match.score)
            for name, _ in match.others:
                wins[name][1].append(1 - match.score)
        by_skill.append(spearmanr([found.overall[name].value for name in sorted(skill)], truth)[0])
        by_wins.append(spearmanr([sum(map(np.mean, wins[name])) for name in sorted(skill)], truth)[0])
    assert np.mean(by_skill) > np.mean(by_wins) + 0.1


@pytest.mark.parametrize("both", [False, True])
def test_role_skills_fixed_opponent_order_as_wins(both):
    rng = np.random.default_rng(3)
    skill = pool(rng, 8) | {"fixed": np.zeros(2)}
    wins, log = dict.fromkeys(skill, 0.0), []
    for deal in range(60):
        for name in skill:
            log.append(play(rng, name, ["fixed"] * 4, skill, deal=deal))
            wins[name] += log[-1].score
            if both:
                log.append(play(rng, "fixed", [name] * 4, skill, deal=1000 + deal))
    found = role_skills(log)
    told = [name for name in skill if list(wins.values()).count(wins[name]) == 1]
    ratings = {name: found.skills[name][HUNTED].value for name in skill}
    assert sorted(told, key=ratings.get) == sorted(told, key=wins.get)
    assert all(
        (HUNTER in found.skills[name]) == both for name in skill
    )  # a role with a single policy compares no policies
    assert (set(found.overall) == set(skill)) == both


@pytest.mark.slow
def test_role_skills_intervals_cover_the_truth():
    hits, advantages = [], []
    for seed in range(25):
        skill, log = mixed_log(100 + seed, size=7, matches=200)
        found = role_skills(log)
        centre = np.mean(list(skill.values()), axis=0)
        for name, own in found.skills.items():
            truth = 1000 + (skill[name] - centre) * 173.72
            hits += [own[role].low <= truth[place] <= own[role].high for place, role in enumerate((HUNTED, HUNTER))]
        true = (-0.4 + centre[0] - centre[1]) * 173.72
        advantages.append(found.advantage.low <= true <= found.advantage.high)
    assert 0.9 <= np.mean(hits) <= 0.99
    assert np.mean(advantages) >= 0.8


def test_role_skills_separable_results_are_finite():
    log = [RoleMatch((("a", HUNTED),), (("b", HUNTER),), 1.0, deal) for deal in range(30)]
    log += [RoleMatch((("b", HUNTED),), (("a", HUNTER),), 0.0, deal) for deal in range(30)]
    found = role_skills(log)
    assert found == role_skills(log[::-1])
    assert 1000 < found.skills["a"][HUNTED].value < 2000
    assert found.overall["a"].low < found.overall["a"].value < found.overall["a"].high
    assert found.overall["a"].n == 60
    assert role_skills([]) is None
    with pytest.raises(ValueError, match="both sides"):
        role_skills([RoleMatch((("a", HUNTED),), (), 1.0, 0)])


SKILL = {"a": 3.0, "b": 1.0, "c": -1.0, "d": -3.0}


def cross_play(deals, noise=0.0, seed=0, skill=SKILL):
    rng = np.random.default_rng(seed)
    return [
        TeamResult(pair, 10.0 + 5 * deal + sum(skill[name] for name in pair) + noise * rng.normal(), deal)
        for deal in range(deals)
        for pair in itertools.permutations(skill, 2)
    ]


def test_plus_minus_corrects_for_partners_and_deals():
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


def test_plus_minus_order_has_no_effect():
    results = cross_play(4, noise=1.0)
    assert plus_minus(results[::-1]) == plus_minus(results)
    teams = [
        TeamResult(team, 2.0 * deal + sum(SKILL[name] for name in team), deal)
        for deal in range(2)
        for team in itertools.combinations_with_replacement(SKILL, 3)
    ]
    assert {name: one.value for name, one in plus_minus(teams).items()} == pytest.approx(SKILL)


def test_plus_minus_unidentified_effects_are_left_out():
    assert plus_minus([]) == {}
    assert plus_minus([TeamResult(("a", "b"), float(deal), deal) for deal in range(5)]) == {}
    assert plus_minus([TeamResult(("a", "a"), 1.0, 0), TeamResult(("b", "b"), 2.0, 1)]) == {}
    apart = plus_minus([TeamResult(("a", "a"), 3.0, 0), TeamResult(("a", "b"), 2.0, 0)])
    assert {name: (one.value, one.low) for name, one in apart.items()} == {
        "a": (pytest.approx(0.5), None),
        "b": (pytest.approx(-0.5), None),
    }


@pytest.mark.slow
def test_plus_minus_intervals_cover_the_truth():
    hits = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        deals = rng.normal(size=(6, 4)) * 2  # a policy's effect of a deal is common to its matches on it
        results = [
            one._replace(value=one.value + sum(deals[one.deal]["abcd".index(name)] for name in one.members))
            for one in cross_play(6, noise=1.0, seed=seed)
            if rng.random() < 0.8
        ]
        found = plus_minus(results)
        hits += [one.low <= SKILL[name] <= one.high for name, one in found.items()]
    assert 0.92 <= np.mean(hits) <= 0.99
