"""Biases of the judges of a study: unbiased ones are rarely named, biased ones are, and unrelated texts are not paired."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.performance.judge_biases import Setting, judgements, named
from rating.judgements import Judgement
from rating.judges import judge_biases

SMALL = Setting(items=120)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [SMALL, replace(SMALL, both_orders=True), replace(SMALL, quality=0.3), replace(SMALL, judges=3)]
)
def test_biases_unbiased_judges_are_rarely_named(setting):
    assert sum(any(study) for study in named(setting, 150, 5)) <= 0.055 * 150 + 5  # twice the noise


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("position", "position bias: favours the first side"),
        ("verbosity", "verbosity bias: favours the longer text"),
        ("family", "family bias: favours its own family"),
    ],
)
def test_biases_strong_bias_is_named(kind, text):
    families = {f"{role} {number}": f"family {number}" for role in ("judge", "policy") for number in range(8)}
    setting = replace(Setting(items=400, biased=1), **{kind: 2.5})
    found = judge_biases(judgements(np.random.default_rng(3), setting), families)
    assert found["judge 0"].named() == [text]


def test_biases_unbiased_judge_beside_five_biased_is_not_named():
    studies = list(named(Setting(items=150, biased=5, verbosity=2.0), 10, 1))
    assert sum("verbosity" in study[5] for study in studies) <= 1


def test_biases_are_corrected_over_all_tests_of_all_judges():
    rng = np.random.default_rng(4)
    study = judgements(rng, replace(SMALL, judges=3))
    (alone,) = judge_biases([one for one in study if one.judge == "judge 0"], {}).values()
    together = judge_biases(study, {})
    raw = alone.position.p  # the only test of a single judge
    assert together["judge 0"].position.p == pytest.approx(min(1, raw * 6), rel=1) and raw < 1
    assert together["judge 0"].position.p >= raw


@pytest.mark.parametrize("contest", ["", "texts"])
def test_biases_without_contest_do_not_pair_unrelated_cases(contest):
    cases = [
        Judgement(f"q{n} {order}", "ann", "A", contest=contest and f"{contest} {n}")
        for n in range(20)
        for order in ("xy", "yx")
    ]
    share = judge_biases(cases, {})["ann"].position.share
    assert share is None if not contest else share.value == 1


def test_biases_judges_of_the_same_family_are_no_reference():
    rng = np.random.default_rng(6)
    cases = []
    for n in range(200):
        players = ("zed-b", "x") if n % 2 else ("x", "zed-b")
        quality = rng.logistic()
        for judge in ("ann", "bob", "cid", "zed-a", "zed-c"):
            pull = 2 if judge.startswith("zed") else 0
            won = quality + pull + rng.logistic() > 0
            cases.append(Judgement(f"q{n}", judge, "AB"[players.index("zed-b" if won else "x")], players=players))
    found = judge_biases(cases, {"zed": "Acme"})
    assert found["zed-a"].named() == found["zed-c"].named() == ["family bias: favours its own family"]
    assert found["ann"].family is None
