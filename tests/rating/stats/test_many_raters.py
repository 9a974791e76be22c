"""Agreement of many raters: textbook tables, other libraries on random data with missing labels, and what is undefined."""

import itertools
from collections import Counter

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from rating.stats.agreement import (
    LEVELS,
    cohens_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    label_counts,
    pair_means,
    pooled_agreement,
    rater_pairs,
)

FLEISS = """0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7"""
"""Ten cases, fourteen raters, five labels: the number of raters for each label."""

HAYES = """1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 ."""
"""Four raters, twelve cases, five labels."""


def by_case(text):
    """Returns the labels of each case from lines of raters."""
    lines = [[None if cell == "." else int(cell) for cell in line.split()] for line in text.splitlines()]
    return [
        {f"r{rater}": label for rater, label in enumerate(case) if label is not None}
        for case in zip(*lines, strict=True)
    ]


def random_cases(seed, raters=5, n=60, labels=3, missing=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(labels, size=n)
    said = np.where(rng.random((raters, n)) < 0.5, truth, rng.integers(labels, size=(raters, n)))
    there = rng.random((raters, n)) >= missing
    return [{f"r{rater}": int(said[rater, case]) for rater in range(raters) if there[rater, case]} for case in range(n)]


def counts(cases, labels):
    return label_counts((case.values() for case in cases), labels)


def test_fleiss_of_the_textbook_table():
    rows = np.array([[float(cell) for cell in line.split()] for line in FLEISS.splitlines()])
    cases = [[label for label, count in enumerate(row) for _ in range(int(count))] for row in rows]
    found = fleiss_kappa(*label_counts(cases, range(5)))
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert (found.n, found.low < 0.21 < found.high) == (10, True)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_textbook_table(level, alpha):
    found = krippendorff_alpha(*counts(by_case(HAYES), range(1, 6)), level=level)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.n == 11  # one case has a single label


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_that_of_the_krippendorff_package(seed, level):
    labels = 2 + seed % 4
    cases = random_cases(seed, raters=2 + seed, labels=labels)
    values = [0.0, 1.0, 2.5, 7.0, 7.5][:labels]
    table = [
        [values[case[f"r{rater}"]] if f"r{rater}" in case else np.nan for case in cases] for rater in range(2 + seed)
    ]
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level, value_domain=values)
    found = krippendorff_alpha(*counts(cases, range(labels)), level=level, values=values)
    assert found.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_fleiss_is_that_of_statsmodels(seed):
    cases = random_cases(seed, missing=0)
    table = [[Counter(case.values())[label] for label in range(3)] for case in cases]
    assert fleiss_kappa(*counts(cases, range(3))).value == pytest.approx(statsmodels_fleiss(table), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohen_is_that_of_scikit_learn_and_statsmodels(seed, weights):
    labels = 2 + seed % 4
    cases = [case for case in random_cases(seed, raters=2, labels=labels) if len(case) == 2]
    first, second = ([case[name] for case in cases] for name in ("r0", "r1"))
    found = cohens_kappa(first, second, weights=weights, order=range(labels))
    named = None if weights == "none" else weights
    assert found.kappa.value == pytest.approx(cohen_kappa_score(first, second, weights=named), abs=1e-12)
    table = np.zeros((labels, labels))
    np.add.at(table, (first, second), 1)
    assert found.kappa.value == pytest.approx(statsmodels_kappa(table, wt=named).kappa, abs=1e-12)
    assert found.kappa.low < found.kappa.value < found.kappa.high


def test_pairs_and_their_means():
    cases = random_cases(3, raters=4)
    pairs = rater_pairs(cases, order=range(3))
    assert [pair.raters for pair in pairs] == list(itertools.combinations(["r0", "r1", "r2", "r3"], 2))
    kappas, shares, equal, all_pairs = [], [], 0, 0
    for pair in pairs:
        both = [(case[pair.raters[0]], case[pair.raters[1]]) for case in cases if {*pair.raters} <= case.keys()]
        kappas.append(cohen_kappa_score(*zip(*both, strict=True)))
        shares.append(np.mean([one == other for one, other in both]))
        equal, all_pairs = equal + sum(one == other for one, other in both), all_pairs + len(both)
        assert (pair.plain.n, pair.plain.kappa.value) == (len(both), pytest.approx(kappas[-1]))
        assert pair.linear.kappa.value == pytest.approx(cohen_kappa_score(*zip(*both, strict=True), weights="linear"))
    means = pair_means(cases, range(3))
    assert (means.pairs, means.defined, means.left_out) == (6, 6, 0)
    assert means.kappa.value == pytest.approx(np.mean(kappas))
    assert means.agreement.value == pytest.approx(np.mean(shares))
    assert means.kappa.low < means.kappa.value < means.kappa.high
    assert pooled_agreement(*counts(cases, range(3))).value == pytest.approx(equal / all_pairs)


def test_nothing_depends_on_the_order_of_the_cases():
    cases = random_cases(5)
    shuffled = [cases[index] for index in np.random.default_rng(1).permutation(len(cases))]
    for statistic in (fleiss_kappa, krippendorff_alpha, pooled_agreement):
        assert statistic(*counts(cases, range(3))) == statistic(*counts(shuffled, range(3)))
    assert pair_means(cases, range(3)) == pair_means(shuffled, range(3))


def test_pairs_with_few_cases_are_left_out_of_the_mean_on_request():
    cases = [{"a": label, "b": label} for label in (0, 1) * 20] + [{"a": 0, "c": 0}, {"a": 1, "c": 0}]
    everyone, kept = pair_means(cases, (0, 1)), pair_means(cases, (0, 1), least=30)
    assert (everyone.pairs, everyone.kappa.value, everyone.agreement.value) == (2, 0.5, 0.75)
    assert (kept.pairs, kept.left_out, kept.kappa.value, kept.agreement.value) == (1, 1, 1.0, 1.0)


def test_what_is_undefined_has_no_value():
    only_ties = [{"a": "tie", "b": "tie", "c": "tie"}] * 9
    rows, times = counts(only_ties, ("A", "tie", "B"))
    assert fleiss_kappa(rows, times) is None
    assert [krippendorff_alpha(rows, times, level=level) for level in LEVELS] == [None] * 3
    agreed = pooled_agreement(rows, times)
    assert (agreed.value, agreed.n) == (1.0, 9)
    assert 0.6 < agreed.low < 0.8  # Wilson's for nine cases, not for 27 pairs
    means = pair_means(only_ties, ("A", "tie", "B"))
    assert (means.kappa, means.pairs, means.defined) == (None, 3, 0)
    alone = counts([{"a": "A"}, {"b": "B"}], ("A", "B"))
    assert (fleiss_kappa(*alone), krippendorff_alpha(*alone), pooled_agreement(*alone)) == (None, None, None)
    assert rater_pairs([{"a": "A"}, {"b": "B"}]) == []


def test_few_cases_have_no_interval_that_looks_certain():
    cases = [{"a": 0, "b": 0}, {"a": 1, "b": 1}, {"a": 1, "b": 0}]
    rows, times = counts(cases, (0, 1))
    assert fleiss_kappa(rows, times).low is None
    assert krippendorff_alpha(rows, times).low is None
    assert pooled_agreement(rows, times).low is None
    agreed = pooled_agreement(*counts(cases + cases[:2], (0, 1)))
    assert agreed.low < 0.5 and agreed.high > 0.9


@pytest.mark.slow
def test_intervals_cover_what_is_known():
    covered = {"fleiss": 0, "alpha": 0, "agreement": 0}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        # Every rater knows the label of 60 % of the cases, in common, and draws the others: kappa and alpha are 0.6.
        known = rng.random(80) < 0.6
        truth, drawn = rng.integers(2, size=80), rng.integers(2, size=(4, 80))
        cases = [
            {f"r{rater}": int(truth[case] if known[case] else drawn[rater, case]) for rater in range(4)}
            for case in range(80)
        ]
        rows, times = counts(cases, (0, 1))
        for name, found, value in (
            ("fleiss", fleiss_kappa(rows, times), 0.6),
            ("alpha", krippendorff_alpha(rows, times), 0.6),
            ("agreement", pair_means(cases, (0, 1)).agreement, 0.8),
        ):
            covered[name] += found.low <= value <= found.high
    assert all(hits >= 0.9 * 200 for hits in covered.values()), covered
