"""The exact test of a preference, its share, and changes of verdicts."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from rating.stats.judge_bias import BiasEstimate, BiasTrial, changes, preference


def verdicts(stratum, first, second):
    """Scores of A where it is shown first and where it is shown second."""
    return [BiasTrial(stratum, True, score) for score in first] + [BiasTrial(stratum, False, score) for score in second]


def test_preference_of_one_pair_is_fisher_exact():
    found = preference(verdicts("ab", [1] * 9 + [0] * 3, [1] * 4 + [0] * 11))
    assert found.p == pytest.approx(fisher_exact([[9, 3], [4, 11]]).pvalue)
    assert found.share.value == pytest.approx((1 + 9 / 12 - 4 / 15) / 2)


def test_preference_of_swapped_texts_is_sign_test_on_discordant_pairs():
    pairs = [(1, 0)] * 12 + [(0, 1)] * 3 + [(1, 1), (0, 0), (0.5, 0.5)] * 20
    trials = [trial for n, (first, second) in enumerate(pairs) for trial in verdicts(n, [first], [second])]
    found = preference(trials)
    assert found.p == pytest.approx(binomtest(12, 15).pvalue)
    assert (found.share.value, found.share.n) == (pytest.approx(0.5 + 9 / 150), 150)


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


def test_preference_without_both_positions_is_not_tested():
    assert preference([]) == BiasEstimate(None, None)
    assert preference(verdicts("ab", [1] * 50, []) + verdicts("cd", [], [0] * 9)) == BiasEstimate(None, None)
    assert preference(verdicts("ab", [1] * 9, [1] * 9)).p == 1


@pytest.mark.parametrize("stronger_first", [0.3, 0.8])
def test_preference_of_stronger_players_holds_level_and_covers(stronger_first):
    covered = rejected = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        trials = []
        for _ in range(150):
            weak, strong = sorted(rng.choice(3, 2, replace=False))
            won = rng.random() < 1 / (1 + np.exp(weak - strong))
            trials.append(BiasTrial((weak, strong), bool(rng.random() < stronger_first), float(won)))
        found = preference(trials)
        covered += found.share.low <= 0.5 <= found.share.high
        rejected += found.p < 0.05
    assert covered >= 0.94 * 300
    assert rejected <= 0.075 * 300


def test_changes_and_where_they_went():
    found = changes([("A", "A", "B"), ("A", "B", "B"), ("B", "A", "B"), ("tie", "A", None), ("A", "tie", "B")])
    assert (found.changed.value, found.changed.n) == (0.8, 5)
    assert (found.towards.value, found.away.value, found.towards.n) == (pytest.approx(1 / 3), pytest.approx(1 / 3), 3)
    nothing = changes([("A", "A", "B")] * 5)
    assert (nothing.changed.value, nothing.towards) == (0, None)
    assert nothing.changed.high > 0.4
