"""Judges against the truth: planted effects are found in matches, and nothing without planting."""

import csv

import pytest

from benchmarks.experiments.command import main
from benchmarks.simulbench.__main__ import PAPER
from benchmarks.simulbench.truth import (
    EXACT,
    FLAWED,
    JUDGES,
    RUN,
    WRONG,
    Options,
    Rated,
    correction_table,
    drift_of,
    error_of,
    plan,
    praise_of,
    rated_answers,
    scores_of,
    simulator_table,
)
from rating.store.records import FINISHED, UNDECIDED, VOID, Outcome, SeatOutcome


def answer(truth, rating, turn=1.0, deal=0, simulator="one"):
    return Rated(simulator, deal, turn, truth, {} if rating is None else {"judge": rating})


def outcome(number, status=FINISHED, forfeit="", ratings=(7.5, -1.0), **told):
    simulator = SeatOutcome("one", 5.0, forfeit=forfeit, statistics=told, agent="simulator_0")
    judges = [
        SeatOutcome("twin", 0.0, statistics={"rating": rating}, agent=f"judge_{seat}", rated=False)
        for seat, rating in enumerate(ratings)
    ]
    return Outcome("simulation_v0", number, 100 + number, status, (simulator, *judges))


def test_answers_are_read_from_outcomes():
    found = rated_answers(
        [
            outcome(4, exact=0.0, format_flawed=1.0, turns=4.0, ratings=(1.0, 2.0)),
            outcome(1, exact=1.0, format_flawed=0.0, turns=2.0),
            outcome(2, exact=0.0, format_flawed=0.0, turns=2.0),
            outcome(3, exact=-1.0, format_flawed=-1.0, turns=2.0),
            outcome(5, status=VOID),
            outcome(6, status=UNDECIDED, exact=1.0, turns=1.0, ratings=(-1.0, -1.0)),
            outcome(7, forfeit="illegal", exact=0.0),
        ]
    )
    assert [each.truth for each in found] == [EXACT, WRONG, None, FLAWED, EXACT]
    assert [each.deal for each in found] == [101, 102, 103, 104, 106]
    assert found[0].ratings == {"twin": 7.5}
    assert found[3].ratings == {"twin": 1.0, "twin (judge_1)": 2.0}
    assert found[4].ratings == {}


def test_praise_counts_wrong_and_exact_answers_only():
    known = [
        *(answer(WRONG, rating, deal=k) for k, rating in enumerate([7.0, 6.9, 1.0, 10.0])),
        *(answer(EXACT, rating, deal=k) for k, rating in enumerate([7.0, 5.0], start=4)),
        answer(FLAWED, 10.0, deal=6),
        answer(FLAWED, 1.0, deal=7),
        answer(WRONG, None, deal=8),
    ]
    false, missed = praise_of(known, "judge", 7.0)
    assert (false.value, false.n, missed.value, missed.n) == (0.5, 4, 0.5, 2)


def test_errors_are_in_points():
    known = [answer(WRONG, 4.0, deal=0), answer(EXACT, 7.0, deal=1), answer(FLAWED, 8.5, deal=2)]
    assert error_of(scores_of(known, "judge")).value == pytest.approx((3 - 3 + 3) / 3)


def test_planted_drift_is_found():
    def known(drift):
        return [
            answer(truth, 1 + 5 * truth + drift * turn + 0.1 * (deal * turn % 3), turn, deal)
            for deal in range(20)
            for turn in (1, 2, 4)
            for truth in (WRONG, EXACT)
        ]

    found = drift_of(known(0.5), "judge")
    assert found.value == pytest.approx(0.5, abs=0.05) and found.low > 0.4
    assert abs(drift_of(known(0.0), "judge").value) < 0.05
    assert drift_of([answer(WRONG, 3.0, 2.0, deal) for deal in range(9)], "judge") is None


def test_truth_ranks_better_simulator_first_without_judge_error():
    answers = []
    for deal in range(200):
        for simulator, every in (("bad", 4), ("good", 2)):
            right = deal % every == 0
            truth = float(right) if deal < 100 else None
            answers.append(answer(truth, 9.0 if right else 6.0, deal=deal, simulator=simulator))
    table = simulator_table(answers)
    assert [row[0] for row in table.rows] == ["good", "bad"]
    assert [row[3].value for row in table.rows] == pytest.approx([50, 25], abs=0.1)
    assert table.rows[0][1].value == pytest.approx(7.5)


def test_correction_helps_with_good_judge_only():
    answers = [
        Rated("one", deal, 1.0, float(deal % 3 == 0), {"good": 10.0 if deal % 3 == 0 else 2.0, "blind": 5.0})
        for deal in range(300)
    ]
    good, blind = correction_table(answers, ["good", "blind"], 0.2, 0).rows
    widths = [row[3].high - row[3].low for row in (good, blind)]
    assert widths[0] < 0.8 * widths[1]
    assert abs(good[3].value - good[1].value) < 5 and good[1].value == pytest.approx(100 / 3)
    assert blind[3] == blind[2]._replace(n=300, clusters=300) and blind[4] == 0


def table(out, name):
    return list(csv.DictReader((out / f"truth-{name}.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.slow
def test_smoke_run_separates_planted_judges(tmp_path):
    assert main(PAPER, ["truth", "--smoke", "--out", str(tmp_path / "a")]) == 0
    lines = {line["judge"]: line for line in table(tmp_path / "a", "judges")}
    assert set(lines) == set(JUDGES)
    assert float(lines["exact"]["rank correlation with the truth (measured)"]) == 1
    assert float(lines["exact"]["false praise, % (measured)"]) == 0
    assert float(lines["always"]["missed praise, % (measured)"]) == 100
    assert float(lines["exact:drift=1"]["drift, points a turn (measured)"]) > 0.1
    simulators = [line["simulator"] for line in table(tmp_path / "a", "simulators")]
    assert simulators[0] == "perfect" and simulators[-1] == "silent" and len(simulators) == 5


def test_a_model_asks_at_the_temperature_of_the_paper(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of nobody")
    config = plan(Options(smoke=True, number=2, user="openai:m", judge=("openai:m", "exact")))[RUN]
    config.check()
    staff = config.find_environment("simulation_v0").staff
    assert staff["judge"] == ["openai:m", "exact"]
    assert config.find_policy(staff["user"][0]).options == {"temperature": 1.2, "max_tokens": 300}
