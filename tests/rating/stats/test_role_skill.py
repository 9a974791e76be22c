import numpy as np
import pytest
from scipy.stats import spearmanr

from rating.stats.roles import RoleMatch, role_skills

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


def test_on_mixed_tables_skills_order_better_than_shares_of_wins():
    by_skill, by_wins = [], []
    for seed in range(12):
        skill, log = mixed_log(seed, apart=0.7)
        found = role_skills(log)
        truth = [skill[name].mean() for name in sorted(skill)]
        wins = {name: ([], []) for name in skill}
        for match in log:
            wins[match.first[0][0]][0].append(match.score)
            for name, _ in match.others:
                wins[name][1].append(1 - match.score)
        by_skill.append(spearmanr([found.overall[name].rating for name in sorted(skill)], truth)[0])
        by_wins.append(spearmanr([sum(map(np.mean, wins[name])) for name in sorted(skill)], truth)[0])
    assert np.mean(by_skill) > np.mean(by_wins) + 0.1


@pytest.mark.parametrize("both", [False, True])
def test_against_one_fixed_opponent_skills_order_as_shares_of_wins(both):
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
    ratings = {name: found.skills[name][HUNTED].rating for name in skill}
    assert sorted(told, key=ratings.get) == sorted(told, key=wins.get)
    assert all((HUNTER in found.skills[name]) == both for name in skill)  # alone in a role, nobody is told from others
    assert (set(found.overall) == set(skill)) == both


def test_intervals_hold_the_truth_and_the_advantage_is_found():
    hits, advantages = [], []
    for seed in range(25):
        skill, log = mixed_log(100 + seed, size=7, matches=200)
        found = role_skills(log)
        centre = np.mean(list(skill.values()), axis=0)
        for name, own in found.skills.items():
            truth = 1000 + (skill[name] - centre) * 173.72
            hits += [own[role].low <= truth[place] <= own[role].high for place, role in enumerate((HUNTED, HUNTER))]
        true = (-0.4 + centre[0] - centre[1]) * 173.72
        advantages.append(abs(found.advantage - true) <= 1.96 * found.advantage_error)
    assert 0.9 <= np.mean(hits) <= 0.99
    assert np.mean(advantages) >= 0.8


def test_order_of_the_log_does_not_matter_and_always_winning_is_finite():
    log = [RoleMatch((("a", HUNTED),), (("b", HUNTER),), 1.0, deal) for deal in range(30)]
    log += [RoleMatch((("b", HUNTED),), (("a", HUNTER),), 0.0, deal) for deal in range(30)]
    found = role_skills(log)
    assert found == role_skills(log[::-1])
    assert 1000 < found.skills["a"][HUNTED].rating < 2000
    assert found.overall["a"].low < found.overall["a"].rating < found.overall["a"].high
    assert found.overall["a"].matches == 60
    assert role_skills([]) is None
    with pytest.raises(ValueError, match="both sides"):
        role_skills([RoleMatch((("a", HUNTED),), (), 1.0, 0)])
