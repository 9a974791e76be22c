"""Tests of a judge for biases: other libraries as oracles, level and power."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from rating.stats.judge_bias import BiasTrial, JudgedItem, OtherJudgesView, beyond_others, changes, preference


def verdicts(stratum, first, second):
    """Scores of A where it is shown first and where it is shown second."""
    return [BiasTrial(stratum, True, score) for score in first] + [BiasTrial(stratum, False, score) for score in second]


def test_preference_one_pair_matches_fisher_exact():
    found = preference(verdicts("ab", [1] * 9 + [0] * 3, [1] * 4 + [0] * 11))
    assert found.p == pytest.approx(fisher_exact([[9, 3], [4, 11]]).pvalue)
    assert found.estimate.value == pytest.approx((1 + 9 / 12 - 4 / 15) / 2)


def test_preference_swapped_texts_match_sign_test():
    pairs = [(1, 0)] * 12 + [(0, 1)] * 3 + [(1, 1), (0, 0), (0.5, 0.5)] * 20
    trials = [trial for n, (first, second) in enumerate(pairs) for trial in verdicts(n, [first], [second])]
    found = preference(trials)
    assert found.p == pytest.approx(binomtest(12, 15).pvalue)
    assert (found.estimate.value, found.estimate.n) == (pytest.approx(0.5 + 9 / 150), 150)


def test_preference_p_counts_every_permutation():
    strata = [([1, 0.5, 1, 0.5], [0, 0.5, 0]), ([0.5, 1], [0, 0.5, 1])]
    found = preference([trial for n, parts in enumerate(strata) for trial in verdicts(n, *parts)])
    sums = np.zeros(1)
    for first, second in strata:
        draws = [sum(drawn) for drawn in combinations(first + second, len(first))]
        sums = np.add.outer(sums, draws).ravel()
    values, counts = np.unique(sums, return_counts=True)
    own = counts[values == sum(sum(first) for first, _ in strata)]
    assert found.p == pytest.approx(counts[counts <= own].sum() / counts.sum())


def test_preference_one_position_is_not_tested():
    assert preference([]) is None
    assert preference(verdicts("ab", [1] * 50, []) + verdicts("cd", [], [0] * 9)) is None
    assert preference(verdicts("ab", [1] * 9, [1] * 9)).p == 1


@pytest.mark.slow
def test_preference_unbiased_judge_holds_level():
    covered = rejected = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        trials = []
        for _ in range(150):
            weak, strong = sorted(rng.choice(3, 2, replace=False))
            won = rng.random() < 1 / (1 + np.exp(weak - strong))
            trials.append(BiasTrial((weak, strong), bool(rng.random() < 0.8), float(won)))
        found = preference(trials)
        covered += found.estimate.low <= 0.5 <= found.estimate.high
        rejected += found.p < 0.05
    assert covered >= 0.94 * 300
    assert rejected <= 0.075 * 300


def test_changes_counts_directions():
    found = changes([("A", "A", "B"), ("A", "B", "B"), ("B", "A", "B"), ("tie", "A", None), ("A", "tie", "B")])
    assert (found.changed.value, found.changed.n) == (0.8, 5)
    assert (found.towards.value, found.away.value, found.towards.n) == (pytest.approx(1 / 3), pytest.approx(1 / 3), 3)
    nothing = changes([("A", "A", "B")] * 5)
    assert (nothing.changed.value, nothing.towards) == (0, None)
    assert nothing.changed.high > 0.4


def rows(rng, pull, *, noises=(1.0,) * 5, lead=1.0, n=200):
    """Verdicts of the first judge; the side with the trait is better by ``lead`` logits."""
    trait = np.where(rng.random(n) < 0.4, rng.choice([-1, 1], n), 0)
    quality = lead * trait + rng.logistic(size=n)
    pulls = np.outer([pull, 0, 0, 0, 0], trait)
    scores = np.sign(quality + pulls + np.array(noises)[:, None] * rng.logistic(size=(5, n))) / 2
    others = scores[1:]
    products = (others.sum(axis=0) ** 2 - (others**2).sum(axis=0)) / 12
    return [
        JudgedItem(score, 0.5, kind, OtherJudgesView(mean, product))
        for score, kind, mean, product in zip(scores[0], trait, others.mean(axis=0), products, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("noises", [(1.0,) * 5, (2, 0.7, 0.7, 0.7, 0.7)])
def test_beyond_others_unbiased_judge_holds_level(noises):
    found = [beyond_others(rows(np.random.default_rng(seed), 0, noises=noises)) for seed in range(300)]
    assert sum(one.p < 0.05 for one in found) <= 0.085 * 300
    assert sum(one.estimate.low <= 0 <= one.estimate.high for one in found) >= 0.915 * 300


@pytest.mark.parametrize("pull", [1.5, -1.5])
def test_beyond_others_planted_bias_is_found(pull):
    found = [beyond_others(rows(np.random.default_rng(seed), pull)) for seed in range(20)]
    assert sum(one.p < 0.05 and one.estimate.value * pull > 0 for one in found) >= 0.85 * 20


def test_beyond_others_exchanged_sides_give_the_same():
    data = rows(np.random.default_rng(1), 1)
    turned = [
        JudgedItem(-one.score, -one.position, -one.trait, OtherJudgesView(-one.others.mean, one.others.product))
        for one in data
    ]
    one, other = beyond_others(data), beyond_others(turned)
    assert (one.p, one.estimate.value) == (pytest.approx(other.p), pytest.approx(other.estimate.value))


def test_beyond_others_refuses_little_or_equal_data():
    data = rows(np.random.default_rng(2), 0)
    kin = [row for row in data if row.trait]
    assert beyond_others([]) is None
    assert beyond_others(kin[:19]) is None
    assert beyond_others(kin[:20]) is not None
    assert beyond_others([row._replace(others=OtherJudgesView(0.0, -0.1)) for row in data]) is None
    assert beyond_others([JudgedItem(0.5, 0.5, 1, OtherJudgesView(0.5, 0.25))] * 50) is None
