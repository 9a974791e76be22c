"""Statistics on judges: agreement before and after discussion, and biases."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from llmarena_envs.core.declaration import Verdicts
from llmarena_envs.core.options import OptionError
from rating.judge_biases import NO_BIASES, judge_biases
from rating.judgements import Judgement, judgements_of
from rating.judges import study
from rating.stats.agreement import cohens_kappa
from rating.store.records import FINISHED, UNDECIDED, VOID, Outcome, SeatOutcome
from rating.viewer.report.judges import judge_sheets
from research.judge_biases import Setting, judgements, named

VERDICTS = Verdicts(swapped="verdict_swapped", length="words")


def seat(policy, agent, **statistics):
    return SeatOutcome(policy, 0.0, agent=agent, rated=agent.startswith("debater"), statistics=statistics)


def outcome(number, *judges, status=FINISHED, sides=(1, 0)):
    """A match: the first debater is on side B unless said otherwise; a judge is (policy, first, final[, swapped])."""
    debaters = [seat(f"p{side}", f"debater_{side}", side=sides[side], words=100 + side) for side in (0, 1)]
    seats = [
        seat(policy, f"judge_{index}", verdict_first=first, verdict_final=final, verdict_swapped=(*more, -1)[0])
        for index, (policy, first, final, *more) in enumerate(judges)
    ]
    return Outcome("game_v0", number, number, status, (*debaters, *seats))


def test_judgements_of_records_reads_all_verdicts():
    outcomes = [
        outcome(0, ("ann", 0, 1, 2), ("bob", 2, 2), ("ann", -1, 0)),
        outcome(1, ("bob", -1, -1), status=UNDECIDED, sides=(0, 1)),
        outcome(2, ("bob", 0, 0), status=VOID),
    ]
    ann, bob, second, silent = judgements_of(outcomes, VERDICTS)
    assert ann == Judgement("match 0", "ann", "B", "A", "tie", ("p1", "p0"), (101, 100), deal="0")
    assert (bob.judge, bob.first, bob.final, bob.again) == ("bob", "tie", "tie", None)
    assert (second.judge, second.first, second.final) == ("ann (2)", None, "A")
    assert (silent.item, silent.final, silent.players) == ("match 1", None, ("p0", "p1"))


def test_judgements_of_records_without_sides_or_discussion():
    plain = Verdicts(first="verdict_final", side="elsewhere")
    (one,) = judgements_of([outcome(0, ("ann", 0, 1))], plain)
    assert (one.first, one.final, one.players, one.words, one.again) == (None, "B", ("", ""), None, None)


def test_study_few_items_have_wide_change_interval():
    changed = {0: {0}, 1: {0, 1}, 2: {0, 1}, 3: {0}, 4: {0, 2}}
    judgements = [
        Judgement(f"q{item}", f"judge {judge}", "B" if judge in changed[item] else "A", "A")
        for item in changed
        for judge in range(5)
    ]
    found = study(judgements).changed
    assert (found.value, found.n, found.clusters) == (0.32, 25, 5)
    assert found.low < 0.15 and found.high > 0.55  # Wilson's interval of as many independent cases


def test_judgements_of_numeric_ratings():
    rated = Verdicts(score="rating")
    seats = [seat("ann", "judge_0", rating=7.5), seat("bob", "judge_1", rating=-1.0)]
    judged = Outcome("game_v0", 3, 3, FINISHED, (seat("p", "debater_0"), *seats))
    ann, bob = judgements_of([judged], rated)
    assert ann == Judgement("match 3", "ann", 7.5, deal="3")
    assert (bob.judge, bob.final) == ("bob", None)


def random_judgements(seed=0, n=80, judges=7, committee=5):
    """Judges change from case to case; some abstain."""
    rng = np.random.default_rng(seed)
    found = []
    for item in range(n):
        truth = rng.choice(["A", "B", "tie"])
        for judge in rng.choice(judges, committee, replace=False):
            first, final = (
                truth if rng.random() < 0.6 else None if rng.random() < 0.1 else rng.choice(["A", "B", "tie"])
                for _ in range(2)
            )
            found.append(Judgement(f"m{item}", f"j{judge}", final and str(final), first and str(first)))
    return found


def test_study_missing_verdicts_match_cohens_kappa():
    judgements = random_judgements(judges=5, committee=4)
    found = study(judgements)
    for stage, name in ((found.before, "first"), (found.after, "final")):
        said = {(one.item, one.judge): getattr(one, name) for one in judgements}
        items = sorted({one.item for one in judgements})
        assert len(stage.pairs) == 10
        for pair in stage.pairs:
            one, other = ([said.get((item, rater)) for item in items] for rater in pair.raters)
            assert pair.plain == cohens_kappa(one, other)
        for judge, majority in stage.majority.items():
            own, others = [], []
            for item in items:
                rest = Counter(said[key] for key in said if key[0] == item and key[1] != judge and said[key])
                top = [label for label, count in rest.items() if count == max(rest.values())]
                own.append(said.get((item, judge)))
                others.append(top[0] if len(top) == 1 else "tie")
            assert majority.others.kappa.value == pytest.approx(cohens_kappa(own, others).kappa.value)
            assert majority.all.kappa.value > majority.others.kappa.value
    assert found.items == 80 and len(found.judges) == 5
    changed = [one.first != one.final for one in judgements if one.first and one.final]
    assert found.changed.value == pytest.approx(np.mean(changed))
    shuffled = [judgements[index] for index in np.random.default_rng(2).permutation(len(judgements))]
    assert study(shuffled) == found


def test_study_position_bias_of_one_judge_is_named():
    rng = np.random.default_rng(5)
    outcomes = []
    for number in range(240):
        strong_first = bool(rng.random() < 0.5)
        right = 0 if strong_first == (rng.random() < 0.8) else 1
        judges = [
            ("fair" + str(index), verdict, verdict)
            for index in range(4)
            for verdict in [right if rng.random() < 0.8 else 1 - right]
        ]
        leaning = 0 if rng.random() < 0.4 else right
        outcomes.append(
            outcome(number, *judges, ("leaning", leaning, leaning), sides=(0, 1) if strong_first else (1, 0))
        )
    found = study(judgements_of(outcomes, VERDICTS))
    biases = {row.judge: row.biases.named() for row in found.judges}
    assert "position bias: favours the first side" in biases.pop("leaning")
    assert not any("position" in bias for said in biases.values() for bias in said)
    decided = sum(
        Counter(one.final for one in judgements).most_common(1)[0][0] == "A"
        for judgements in (judgements_of([match], VERDICTS) for match in outcomes)
    )
    assert 0.4 < decided / 240 < 0.65  # outvoted


def test_study_both_orders_give_consistency():
    again = [Judgement(f"m{n}", "ann", "A", again="B" if n < 6 else "A") for n in range(10)]
    (row,) = study(again).judges
    assert (row.consistent.value, row.consistent.n) == (0.4, 10)
    assert row.biases.position.estimate.value == pytest.approx(0.8)
    twice = [
        Judgement(f"m{n} {order}", "ann", verdict, players=players, texts_name=f"m{n}")
        for n in range(10)
        for order, verdict, players in (("xy", "A", ("x", "y")), ("yx", "A" if n < 6 else "B", ("y", "x")))
    ]
    (row,) = study(twice).judges
    assert (row.consistent.value, row.biases.position.estimate.value) == (0.4, pytest.approx(0.8))
    assert row.biases.position.p == pytest.approx(2 / 2**6)


def test_study_numeric_verdicts_have_no_biases():
    judgements = [
        Judgement(f"m{n}", judge, float(n % 5 + shift)) for n in range(20) for judge, shift in (("a", 0), ("b", 1))
    ]
    found = study(judgements, level="interval")
    (pair,) = found.after.pairs
    assert pair.plain.observed.value == 0
    assert pair.quadratic.kappa.value > pair.linear.kappa.value > 0.3
    assert found.after.krippendorff.value > 0.5
    assert all(row.ties is None and row.biases == NO_BIASES for row in found.judges)


def test_study_many_numbers_are_rounded():
    found = study(
        [Judgement(f"m{n}", judge, 1 + (n + shift) / 20) for n in range(180) for judge, shift in (("a", 0), ("b", 1))]
    )
    (pair,) = found.after.pairs
    assert found.rounded and round(pair.plain.observed.value * 180) == 171  # but where it is x.5 for one of them
    assert "ratings rounded to whole numbers, because there are many different ones" in judge_sheets(found, "")[0].notes
    assert not study([Judgement(f"m{n}", "a", n / 2) for n in range(10)]).rounded


def test_study_edge_cases():
    one = study([Judgement("m", "ann", "tie")])
    assert (one.after.shared, one.after.pairs, one.after.fleiss, one.before) == (0, [], None, None)
    ties = study([Judgement(f"m{n}", judge, "tie") for n in range(2) for judge in "ab"])
    (pair,) = ties.after.pairs
    assert (pair.plain.kappa, pair.plain.observed.value) == (None, 1.0)
    assert ties.after.krippendorff is None
    with pytest.raises(OptionError, match="expected judgements with verdicts, got none"):
        study([Judgement("m", "ann", None)])
    with pytest.raises(OptionError, match="at most 50 different verdicts, got 60"):
        study([Judgement(f"m{n}", "ann", float(n)) for n in range(60)])


SMALL = Setting(items=120)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [SMALL, replace(SMALL, both_orders=True), replace(SMALL, judges=3)])
def test_judge_biases_unbiased_judges_hold_the_level(setting):
    assert sum(any(study) for study in named(setting, 80, 5)) <= 0.055 * 80 + 4  # twice the noise


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("position", "position bias: favours the first side"),
        ("verbosity", "verbosity bias: favours the longer text"),
        ("family", "family bias: favours its own family"),
    ],
)
def test_judge_biases_strong_bias_is_named(kind, text):
    families = {f"{role} {number}": f"family {number}" for role in ("judge", "policy") for number in range(8)}
    setting = replace(Setting(items=400, biased=1), **{kind: 2.5})
    found = judge_biases(judgements(np.random.default_rng(3), setting), families)
    assert found["judge 0"].named() == [text]


@pytest.mark.slow
def test_judge_biases_fair_judge_among_biased_is_not_named():
    studies = list(named(Setting(items=150, biased=5, verbosity=2.0), 10, 1))
    assert sum("verbosity" in study[5] for study in studies) <= 1


def test_judge_biases_p_values_are_corrected_together():
    rng = np.random.default_rng(4)
    study = judgements(rng, replace(SMALL, judges=3))
    (alone,) = judge_biases([one for one in study if one.judge == "judge 0"], {}).values()
    together = judge_biases(study, {})
    raw = alone.position.p  # the only test of a single judge
    assert together["judge 0"].position.p == pytest.approx(min(1, raw * 6), rel=1) and raw < 1
    assert together["judge 0"].position.p >= raw


@pytest.mark.parametrize("texts_name", ["", "texts"])
def test_judge_biases_unrelated_items_are_not_paired(texts_name):
    cases = [
        Judgement(f"q{n} {order}", "ann", "A", texts_name=texts_name and f"{texts_name} {n}")
        for n in range(20)
        for order in ("xy", "yx")
    ]
    test = judge_biases(cases, {})["ann"].position
    assert test is None if not texts_name else test.estimate.value == 1


def test_judge_biases_same_family_is_no_reference():
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
