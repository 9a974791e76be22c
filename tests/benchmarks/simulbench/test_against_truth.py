"""Judges against the truth: known numbers; planted praise, noise and drift are found, and nothing without planting."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from benchmarks.simulbench.against_truth import drift, mean_error, praise, rank_agreement, separation
from rating.stats.estimates import rate_estimate


def judged(rng, dialogues, *, turns=4, flattery=0.0, noise=0.1, rise=0.0, worse=0.0):
    """Answers of dialogues: scores and truth from 0 to 1, turns and dialogues.

    Args:
        rng: source of chance.
        dialogues: number of them.
        turns: of each.
        flattery: share of wrong answers scored as if they were right.
        noise: standard deviation of the scores.
        rise: of the scores by turn.
        worse: by how much answers get worse by turn.
    """
    turn = np.tile(np.arange(1.0, turns + 1), dialogues)
    groups = np.arange(dialogues).repeat(turns)
    chances = np.clip(rng.beta(2, 1, dialogues)[groups] - worse * (turn - 1), 0, 1)
    truth = (rng.random(len(turn)) < chances).astype(float)
    seen = np.where((truth == 0) & (rng.random(len(turn)) < flattery), 1, truth)
    mood = rng.normal(0, 0.05, dialogues)[groups]
    scores = 0.3 + 0.4 * seen + mood + rise * (turn - 1) + rng.normal(0, noise, len(turn))
    return np.clip(scores, 0, 1).tolist(), truth.tolist(), turn.tolist(), groups.tolist()


def found_in(studies, find):
    """Returns in how many studies something is found."""
    return sum(find(*study) for study in studies)


def studies(n, dialogues=40, **planted):
    return [judged(np.random.default_rng(seed), dialogues, **planted) for seed in range(n)]


def test_praise_is_counted_among_the_wrong_and_the_right():
    scores, truth = [9, 8, 3, 10, 7, 2], [0, 0.5, 0, 1, 1, 1]
    found = praise(scores, truth, 8)
    assert found == (rate_estimate(2, 3), rate_estimate(2, 3))
    assert praise([9, 9], [1, 1], 8) == (None, rate_estimate(0, 2))
    assert praise([], [], 8) == (None, None)


@pytest.mark.slow
def test_the_judge_that_praises_is_found_and_the_fair_one_is_not():
    def is_praising(scores, truth, turns, groups):
        # The fair judge scores 0.5 or more for a wrong answer in 5 of 100 cases, by its noise.
        return praise(scores, truth, 0.5, groups).false.low > 0.05

    def is_lenient(scores, truth, turns, groups):
        return mean_error(scores, [0.3 + 0.4 * value for value in truth], groups).low > 0

    for find in (is_praising, is_lenient):
        assert found_in(studies(100, flattery=0.4), find) >= 0.9 * 100
        assert found_in(studies(300), find) <= 0.05 * 300


@pytest.mark.slow
def test_noise_is_found_in_correlation_and_separation():
    for measure in (rank_agreement, separation):
        clear, noisy = (
            [measure(scores, truth, groups) for scores, truth, _, groups in studies(60, noise=noise)]
            for noise in (0.1, 0.6)
        )
        assert all(one.low > other.high for one, other in zip(clear, noisy, strict=True))
    # Scores that have nothing to do with the truth.
    chance = [
        (np.random.default_rng(seed).random(160).tolist(), *judged(np.random.default_rng(seed), 40)[1:])
        for seed in range(300)
    ]
    assert found_in(chance, lambda scores, truth, _, groups: separation(scores, truth, groups).low > 0.5) <= 0.04 * 300
    ends = [rank_agreement(scores, truth, groups) for scores, truth, _, groups in chance]
    assert 0.03 * 300 <= sum(not one.low <= 0 <= one.high for one in ends) <= 0.07 * 300


@pytest.mark.parametrize(("dialogues", "worse"), [pytest.param(8, 0.0, marks=pytest.mark.slow), (40, 0.15)])
def test_drift_is_found_and_worse_answers_are_no_drift(dialogues, worse):
    def drifts(scores, truth, turns, groups):
        found = drift(scores, truth, turns, groups)
        return not found.low <= 0 <= found.high

    assert found_in(studies(300, dialogues, worse=worse), drifts) <= 0.075 * 300
    drifting = studies(60, dialogues, worse=worse, rise=0.06)
    assert found_in(drifting, drifts) >= (0.95 if dialogues == 40 else 0.8) * 60
    slopes = [drift(scores, truth, turns, groups).value for scores, truth, turns, groups in drifting]
    assert np.mean(slopes) == pytest.approx(0.06, abs=0.006)


def test_slope_is_least_squares_with_errors_by_dialogue():
    scores, truth, turns, groups = judged(np.random.default_rng(1), 200, rise=0.02)
    model = sm.OLS(scores, np.stack([np.ones(800), turns, truth], axis=1))
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": np.array(groups)}, use_t=True)
    ours = drift(scores, truth, turns, groups)
    assert ours.value == pytest.approx(theirs.params[1])
    assert (ours.low, ours.high) == pytest.approx(theirs.conf_int()[1], abs=0.03 * theirs.bse[1])
    assert (ours.n, ours.clusters) == (800, 200)


def test_undetermined_drift_is_none():
    rng = np.random.default_rng(2)
    scores, truth = rng.random(30).tolist(), (rng.random(30) < 0.5).astype(float)
    assert drift(scores, truth.tolist(), [4] * 30) is None
    assert drift(scores, truth.tolist(), (2 * truth).tolist()) is None
    assert drift([], [], []) is None
    assert drift([0.5], [1], [1]) is None
    assert drift(scores, [1.0] * 30, list(range(30))).low is not None
    few = drift(scores, truth.tolist(), list(range(30)), [number % 5 for number in range(30)])
    assert (few.low, few.high, few.clusters) == (None, None, 5)
    one_late = drift(scores, truth.tolist(), [1] * 29 + [9])
    assert one_late.value is not None
    assert one_late.low is None
    exact = drift(truth.tolist(), truth.tolist(), list(range(30)))
    assert exact[:3] == (pytest.approx(0), None, None)
    with pytest.raises(ValueError, match="turns: expected a finite number for each of 2 answers, got 1"):
        drift([1, 2], [1, 0], [1])


def test_separation_is_the_area_under_the_curve():
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.4
    scores = np.round(truth + rng.normal(0, 1, 200))
    assert separation(scores.tolist(), truth.astype(float).tolist()).value == pytest.approx(
        roc_auc_score(truth, scores)
    )
    always_five = separation([5] * 20, [0, 1] * 10)
    assert always_five.value == 0.5
    assert always_five.low < 0.4
    assert separation([1, 2], [1, 1]) is None
    assert separation([3, 1, 2], [1, 0, 0])[:3] == (1, None, None)


def test_copied_answers_do_not_narrow_the_separation():
    rng = np.random.default_rng(7)
    truth = (np.arange(60) % 2).astype(float)
    scores = (truth + rng.normal(0, 1, 60)).tolist()
    single = separation(scores, truth.tolist())
    copied = separation(scores * 5, truth.tolist() * 5, list(range(60)) * 5)
    assert copied[:3] == pytest.approx(single[:3])
    assert (copied.n, copied.clusters) == (300, 60)


def test_perfect_separation_of_few_answers_is_uncertain():
    found = separation([8, 9, 10, 7, 1, 2, 3, 1], [1] * 4 + [0] * 4)
    assert found[:2] == (1, pytest.approx(0.44, abs=0.01))
    assert found.high == 1


@pytest.mark.parametrize(("right", "wrong", "away"), [(8, 8, 1.2), pytest.param(10, 60, 2.5, marks=pytest.mark.slow)])
def test_the_interval_of_the_separation_covers(right, wrong, away):
    rng = np.random.default_rng(4)
    points = [np.clip(np.round(5 + 2 * rng.normal(shift, 1, 20000)), 1, 10) for shift in (away, 0)]
    truth = separation(np.concatenate(points).tolist(), [1] * 20000 + [0] * 20000).value
    covered = 0
    for _ in range(300):
        scores = np.concatenate([rng.choice(points[0], right), rng.choice(points[1], wrong)])
        found = separation(scores.tolist(), [1] * right + [0] * wrong)
        covered += found.low <= truth <= found.high
    assert covered >= 0.93 * 300


def test_correlation_is_spearman_with_interval_by_dialogue():
    scores, truth, _, groups = judged(np.random.default_rng(5), 40, noise=0.3)
    found = rank_agreement(scores, truth, groups)
    assert found.value == pytest.approx(spearmanr(scores, truth).statistic)
    copied = rank_agreement(scores * 5, truth * 5, groups * 5)
    assert copied.high - copied.low == pytest.approx(found.high - found.low, rel=0.01)
    assert rank_agreement([7] * 10, [0, 1] * 5) is None
    assert rank_agreement(list(range(10)), [1] * 10) is None
    assert rank_agreement([], []) is None
    assert rank_agreement([1, 2, 3, 4, 5], [0, 0, 1, 0, 1]).low is None
    assert rank_agreement([0, 1] * 10, [0, 1] * 10)[:3] == (pytest.approx(1), None, None)


@pytest.mark.parametrize("dialogues", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_the_interval_of_the_correlation_covers(dialogues):
    large = judged(np.random.default_rng(6), 20000, noise=0.3)
    truth = spearmanr(large[0], large[1]).statistic
    intervals = [
        rank_agreement(scores, exact, groups) for scores, exact, _, groups in studies(300, dialogues, noise=0.3)
    ]
    known = [one for one in intervals if one is not None and one.low is not None]
    assert len(known) >= 0.9 * 300
    assert sum(one.low <= truth <= one.high for one in known) >= 0.93 * len(known)


def test_the_mean_error_has_the_sign_of_the_judge():
    harsh = mean_error([0.2, 0.1, 0.3] * 2, [1] * 6)
    assert harsh.value == pytest.approx(-0.8)
    assert harsh.low < -0.8 < harsh.high < 0.3
    assert mean_error([], []) is None
    with pytest.raises(ValueError, match=r"scores: expected numbers from 0 to 1, got 7"):
        mean_error([7], [1])


def test_bad_input_is_refused():
    for function in (rank_agreement, separation, mean_error):
        with pytest.raises(ValueError, match="expected a truth for each of 2 scores, got 1"):
            function([1, 1], [1])
        with pytest.raises(ValueError, match="truth: expected numbers from 0 to 1"):
            function([1, 1], [1, float("nan")])
        with pytest.raises(ValueError, match="clusters: expected one for each of 2 cases"):
            function([1, 1], [1, 0], ["a"])
    with pytest.raises(ValueError, match="scores: expected finite numbers"):
        praise([float("nan")], [1], 8)
