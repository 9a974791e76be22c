"""Agreement of raters: textbook tables, other libraries on random data, and undefined cases."""

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
    plurality,
    pooled_agreement,
    rater_pairs,
)
from rating.stats.estimates import rate_estimate


def labels(both_yes, yes_no, no_yes, both_no):
    first = ["yes"] * (both_yes + yes_no) + ["no"] * (no_yes + both_no)
    second = ["yes"] * both_yes + ["no"] * yes_no + ["yes"] * no_yes + ["no"] * both_no
    return first, second


def test_cohens_kappa_missing_labels_are_left_out():
    first, second = labels(20, 5, 10, 15)
    assert cohens_kappa([None, *first, "yes"], ["yes", *second, None]) == cohens_kappa(first, second)
    nothing = cohens_kappa(["yes", None], [None, "no"])
    assert nothing == (0, None, None, None)
    with pytest.raises(ValueError, match="2 and 1"):
        cohens_kappa(["yes", "no"], ["yes"])


def test_cohens_kappa_one_label_is_undefined():
    found = cohens_kappa(["yes"] * 7, ["yes"] * 7)
    assert (found.n, found.expected, found.kappa) == (7, 1.0, None)
    assert found.observed.value == 1
    one_sided = cohens_kappa(["yes"] * 7, ["no"] * 7)
    assert one_sided.kappa.value == 0


def test_cohens_kappa_few_equal_items_are_uncertain():
    found = cohens_kappa(["yes", "no"] * 3, ["yes", "no"] * 3)
    assert (found.kappa.value, found.kappa.high) == (1, 1)
    assert found.kappa.low == pytest.approx(2 * rate_estimate(6, 6).low - 1)
    against = cohens_kappa(["yes", "no"] * 3, ["no", "yes"] * 3)
    assert (against.kappa.value, against.kappa.low) == (-1, -1)
    assert cohens_kappa(["yes", "no"] * 2, ["yes", "no"] * 2).kappa[:3] == (1, None, None)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(("n", "yes", "known"), [(30, 0.5, 0.4), (100, 0.9, 0.8)])
def test_cohens_kappa_interval_covers_the_truth(n, yes, known):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        # Both know the same label of some cases and draw the others independently, so kappa is the share that they know.
        common, one, other = rng.random((3, n)) < yes
        both = rng.random(n) < known
        kappa = cohens_kappa(np.where(both, common, one).tolist(), np.where(both, common, other).tolist()).kappa
        covered += kappa is not None and kappa.low <= known <= kappa.high
    assert covered >= 0.91 * 300


def test_plurality_ties_have_no_label():
    assert plurality({"yes": 2, "no": 1}) == "yes"
    assert plurality({False: 1}) is False
    assert plurality({"a": 2, "b": 2, "c": 1}) is None
    assert plurality({"a": 2, "b": 2}, tied="tie") == "tie"
    assert plurality({}) is None


def random_cases(seed, raters=5, n=60, labels=3, missing=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(labels, size=n)
    said = np.where(rng.random((raters, n)) < 0.5, truth, rng.integers(labels, size=(raters, n)))
    there = rng.random((raters, n)) >= missing
    return [{f"r{rater}": int(said[rater, case]) for rater in range(raters) if there[rater, case]} for case in range(n)]


def counts(cases, labels):
    return label_counts((case.values() for case in cases), labels)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", LEVELS)
def test_krippendorff_alpha_matches_krippendorff_package(seed, level):
    labels = 2 + seed % 4
    cases = random_cases(seed, raters=2 + seed, labels=labels)
    values = [0.0, 1.0, 2.5, 7.0, 7.5][:labels]
    table = [
        [values[case[f"r{rater}"]] if f"r{rater}" in case else np.nan for case in cases] for rater in range(2 + seed)
    ]
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level, value_domain=values)
    found = krippendorff_alpha(*counts(cases, range(labels)), level=level, values=values)
    assert found.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_fleiss_kappa_matches_statsmodels(seed):
    cases = random_cases(seed, missing=0)
    table = [[Counter(case.values())[label] for label in range(3)] for case in cases]
    assert fleiss_kappa(*counts(cases, range(3))).value == pytest.approx(statsmodels_fleiss(table), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohens_kappa_matches_sklearn_and_statsmodels(seed, weights):
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


def test_pair_means_match_scikit_learn():
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


def test_agreement_order_of_items_has_no_effect():
    cases = random_cases(5)
    shuffled = [cases[index] for index in np.random.default_rng(1).permutation(len(cases))]
    for statistic in (fleiss_kappa, krippendorff_alpha, pooled_agreement):
        assert statistic(*counts(cases, range(3))) == statistic(*counts(shuffled, range(3)))
    assert pair_means(cases, range(3)) == pair_means(shuffled, range(3))


def test_pair_means_pairs_with_few_items_are_left_out():
    cases = [{"a": label, "b": label} for label in (0, 1) * 20] + [{"a": 0, "c": 0}, {"a": 1, "c": 0}]
    everyone, kept = pair_means(cases, (0, 1)), pair_means(cases, (0, 1), least=30)
    assert (everyone.pairs, everyone.kappa.value, everyone.agreement.value) == (2, 0.5, 0.75)
    assert (kept.pairs, kept.left_out, kept.kappa.value, kept.agreement.value) == (1, 1, 1.0, 1.0)


def test_agreement_undefined_is_none():
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


def test_agreement_few_items_have_no_interval():
    cases = [{"a": 0, "b": 0}, {"a": 1, "b": 1}, {"a": 1, "b": 0}]
    rows, times = counts(cases, (0, 1))
    assert fleiss_kappa(rows, times).low is None
    assert krippendorff_alpha(rows, times).low is None
    assert pooled_agreement(rows, times).low is None
    agreed = pooled_agreement(*counts(cases + cases[:2], (0, 1)))
    assert agreed.low < 0.5 and agreed.high > 0.9


@pytest.mark.slow
def test_agreement_intervals_cover_the_truth():
    covered = {"fleiss": 0, "alpha": 0, "agreement": 0}
    for seed in range(100):
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
    assert all(hits >= 0.88 * 100 for hits in covered.values()), covered
