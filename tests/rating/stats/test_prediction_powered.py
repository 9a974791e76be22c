"""Corrected means: the oracle's numbers, coverage for good, bad and biased judges, and what little data allow to say."""

import numpy as np
import pytest
import truescore

from rating.stats.estimates import bounded_mean, rate_estimate
from rating.stats.prediction_powered import corrected_mean


def judged(rng, n, *, rate=0.7, praise=0.0, slip=0.0, noise=0.1):
    """Answers that are right or wrong and their scores from 1 to 10: a judge who praises some wrong ones and slips at some."""
    truth = (rng.random(n) < rate).astype(float)
    seen = np.where((truth == 0) & (rng.random(n) < praise), 1, truth)
    seen = np.where(rng.random(n) < slip, 1 - seen, seen)
    return np.clip(2 + 6 * seen + 9 * rng.normal(0, noise, n), 1, 10), truth


def correct(scores, truth, known, clusters=None):
    pairs = zip(truth.tolist(), known.tolist(), strict=True)
    return corrected_mean(scores.tolist(), [value if flag else None for value, flag in pairs], clusters)


def simulate(known, others, **judge):
    """Returns coverage and mean width of the interval, and of the one without the judge."""
    rng = np.random.default_rng(known)
    flags = np.arange(known + others) < known
    measured = []
    for _ in range(800):
        found = correct(*judged(rng, known + others, **judge), flags)
        for one in (found.corrected, found.known):
            measured.append((one.low <= judge.get("rate", 0.7) <= one.high, one.high - one.low))
    return np.mean(measured[::2], axis=0), np.mean(measured[1::2], axis=0)


@pytest.mark.parametrize("size", [4, 1])
def test_the_oracle_has_the_same_numbers(size):
    rng = np.random.default_rng(0)
    known, others = 400, 3000
    groups = np.arange((known + others) // size).repeat(size)
    flags = np.arange(known + others) < known
    truth = np.clip(rng.normal(0.5, 0.1, len(groups) // size).repeat(size) + rng.normal(0, 0.15, len(groups)), 0, 1)
    scores = truth + rng.normal(0.1, 0.1, len(groups)) + rng.normal(0, 0.05, len(groups) // size).repeat(size)
    ours = correct(scores, truth, flags, groups.tolist())
    theirs = truescore.ppi_estimate(
        scores, truth[flags], np.flatnonzero(flags), lambda_=ours.weight, clusters=groups if size > 1 else None
    )
    assert ours.corrected.value == pytest.approx(theirs.point, abs=1e-12)
    assert ours.corrected.low == pytest.approx(theirs.low, abs=0.03 * theirs.half_width)
    assert ours.corrected.high == pytest.approx(theirs.high, abs=0.03 * theirs.half_width)
    tuned = truescore.ppi_estimate(scores, truth[flags], np.flatnonzero(flags)).lambda_
    assert ours.weight == pytest.approx(tuned, rel=0.1)


@pytest.mark.slow
def test_the_interval_covers_and_is_shorter_where_judges_are_good():
    (coverage, width), (_, alone) = simulate(100, 900)
    assert 0.93 <= coverage <= 0.97
    assert width < 0.6 * alone


@pytest.mark.slow
@pytest.mark.parametrize("judge", [{"noise": 5.0}, {"praise": 0.3}, {"slip": 0.1}, {"rate": 0.95}])
def test_interval_covers_with_any_judge(judge):
    (coverage, width), (of_wilson, alone) = simulate(60, 600, **judge)
    assert coverage >= min(0.93, of_wilson)
    assert width < 1.02 * alone


@pytest.mark.slow
def test_few_items_without_error_do_not_imply_perfect_judge():
    (coverage, width), (_, alone) = simulate(15, 1000, praise=0.15, noise=0.02)
    assert coverage >= 0.93
    assert 0.5 * alone < width < 0.8 * alone


def test_a_dialogue_counts_once():
    rng = np.random.default_rng(5)
    covered = {"dialogues": 0, "answers": 0}
    flags = np.arange(400) < 100
    groups = np.arange(100).repeat(4).tolist()
    for _ in range(300):
        chances = rng.beta(0.7, 0.3, 100).repeat(4)
        truth = (rng.random(400) < chances).astype(float)
        scores = 0.5 * truth + rng.normal(0, 0.2, 400) + rng.normal(0, 0.2, 100).repeat(4)
        for name, clusters in (("dialogues", groups), ("answers", None)):
            found = correct(scores, truth, flags, clusters).corrected
            covered[name] += found.low <= 0.7 <= found.high
    assert covered["dialogues"] >= 0.93 * 300
    assert covered["answers"] <= 0.9 * 300


@pytest.mark.slow
def test_dialogues_with_known_and_other_answers():
    rng = np.random.default_rng(6)
    flags = np.tile([True, False, False, False], 40)
    groups = np.arange(40).repeat(4).tolist()
    covered = 0
    for _ in range(300):
        chances = rng.beta(1.4, 0.6, 40).repeat(4)
        truth = (rng.random(160) < chances).astype(float)
        found = correct(0.7 * truth + rng.normal(0, 0.15, 160), truth, flags, groups).corrected
        covered += found.low <= 0.7 <= found.high
    assert covered >= 0.93 * 300


def test_answers_that_balance_each_other_are_no_certainty():
    rng = np.random.default_rng(10)
    flags, groups = np.arange(400) < 80, np.arange(200).repeat(2).tolist()
    first = rng.random(200) < 0.5
    truth = np.stack([first, ~first ^ (rng.random(200) < 0.1)], axis=1).ravel().astype(float)
    scores = truth + rng.normal(0, 0.3, 400)
    found, alone = correct(scores, truth, flags, groups).corrected, correct(scores, truth, flags).corrected
    assert found.high - found.low > 0.9 * (alone.high - alone.low)


def test_a_judge_by_chance_is_seldom_used():
    rng = np.random.default_rng(11)
    weights = [correct(rng.random(300), rng.random(300).round(), np.arange(300) < 30).weight for _ in range(300)]
    assert np.mean(np.array(weights) > 0) < 0.35


def test_the_unit_of_the_scores_makes_no_difference():
    scores, truth = judged(np.random.default_rng(7), 200)
    flags = np.arange(200) < 40
    in_points, in_shares = correct(scores, truth, flags), correct((scores - 1) / 9, truth, flags)
    assert in_points.corrected == pytest.approx(in_shares.corrected)
    assert in_shares.weight == pytest.approx(9 * in_points.weight)


def test_uninformative_judge_leaves_known_items_estimate():
    scores, truth = judged(np.random.default_rng(8), 40)
    every, half = np.ones(40, bool), np.arange(40) < 20
    alone = correct(scores, truth, every)
    assert (alone.corrected, alone.known, alone.weight) == (
        rate_estimate(truth.sum(), 40),
        rate_estimate(truth.sum(), 40),
        0,
    )
    for found in (
        correct(np.full(40, 0.7), truth, half),  # always the same score
        correct(-scores, truth, half),  # the better, the lower
        correct(scores, truth, half, np.repeat([0, 1], 20).tolist()),  # known items of one dialogue
        correct(scores, truth, half, np.repeat([0, 1, 2, 3], 10).tolist()),  # of two
    ):
        assert found.weight == 0
        assert found.corrected == found.known._replace(n=40, clusters=found.corrected.clusters)
        assert found.corrected.low is None or found.corrected.high - found.corrected.low > 0.3
    assert correct(scores, truth, np.zeros(40, bool)) is None
    assert corrected_mean([], []) is None
    single = corrected_mean([9, 2, 8], [1.0, None, None])
    assert single.corrected[:3] == rate_estimate(1, 1)[:3]


def test_a_constant_truth_is_no_certainty():
    scores, _ = judged(np.random.default_rng(9), 60)
    found = correct(scores, np.ones(60), np.arange(60) < 10)
    assert found.corrected[:3] == rate_estimate(10, 10)[:3]
    shares = correct(scores, np.full(60, 0.25), np.arange(60) < 10)
    assert shares.corrected[:3] == bounded_mean([0.25] * 10)[:3]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="expected a truth or None for each of 2 scores, got 1"):
        corrected_mean([1, 2], [None])
    with pytest.raises(ValueError, match="scores: expected finite numbers"):
        corrected_mean([1, float("inf")], [1, None])
    with pytest.raises(ValueError, match="truth: expected numbers from 0 to 1, got 7"):
        corrected_mean([1, 2], [7, None])
    with pytest.raises(ValueError, match="clusters: expected one for each of 2 cases"):
        corrected_mean([1, 2], [1, None], ["a"])
