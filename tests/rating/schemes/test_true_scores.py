"""True scores: the judge's error in the interval of leaderboards of runs and logs, and where it is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from llmarena_envs import simulation_v0, writer_editor_v0
from llmarena_envs.core.declaration import Truth
from rating.readers.formats import open_log
from rating.schemes.battles import battle_leaderboard
from rating.schemes.true_scores import JudgedWork, judged_works, with_true_scores
from rating.stats.prediction_powered import FEWEST_TRUE
from rating.stats.results import Battle
from rating.store.records import FINISHED, UNDECIDED, Outcome, SeatOutcome

TRUTH = Truth("engine", "exact", "simulator")
PLAIN = battle_leaderboard("game", [Battle("x", "y", 1.0), Battle("y", "x", 1.0)])


def outcome(number, *seats, status=FINISHED, judge=True):
    """A match: seats are (policy, reward, exact)."""
    played = [
        SeatOutcome(policy, reward, agent=f"simulator_{index}", statistics={"exact": exact, "task": 3.0})
        for index, (policy, reward, exact) in enumerate(seats)
    ]
    staff = [SeatOutcome("judge", 0.0, agent="judge_0", rated=False)] if judge else []
    return Outcome("game", number, number, status, (*played, *staff))


def works(rng, policy, n, *, right, praised, share):
    """Work that is right at a rate, by a judge who praises some wrong work."""
    found = []
    for number in range(n):
        truth = float(rng.random() < right)
        score = 0.9 if truth or rng.random() < praised else 0.1
        found.append(JudgedWork(policy, f"{policy} {number}", score, truth if rng.random() < share else None))
    return found


def test_judged_works_of_matches_with_one_and_two_players():
    outcomes = [
        outcome(0, ("x", 5.5, 1.0)),
        outcome(1, ("x", 10.0, -1.0)),
        outcome(2, ("x", 1.0, 0.0), ("y", -1.0, 1.0)),
        outcome(3, ("x", 0.0, 1.0), status=UNDECIDED),
        outcome(4, ("x", 10.0, 1.0), judge=False),
        replace(outcome(5, ("x", -1.0, 0.0))),
    ]
    assert list(judged_works(outcomes, [TRUTH])) == [
        JudgedWork("x", "0", 0.5, 1.0, "task 3"),
        JudgedWork("x", "1", 1.0, None, "task 3"),
        JudgedWork("x", "2", 1.0, 0.0, "task 3"),
        JudgedWork("y", "2", 0.0, 1.0, "task 3"),
    ]


def test_true_score_corrects_a_generous_judge():
    rng = np.random.default_rng(1)
    found = with_true_scores(
        PLAIN,
        [
            *works(rng, "x", 600, right=0.8, praised=0.0, share=0.3),
            *works(rng, "y", 600, right=0.5, praised=0.8, share=0.3),
        ],
        "engine",
    )
    x, y = (next(row.values["true_score"] for row in found.rows if row.policy == name) for name in "xy")
    assert y.judged.low > 0.6 and y.corrected.low <= 0.5 <= y.corrected.high
    assert x.corrected.low <= 0.8 <= x.corrected.high
    assert x.share == pytest.approx(0.3, abs=0.05)
    assert [column.title for column in found.columns[-3:]] == ["true, % (PPI)", "truth, %", "judge, %"]
    assert any("includes the judges' error" in note for note in found.notes)


def test_true_score_with_few_true_deals_is_refused():
    few = [JudgedWork("x", f"{number}", 0.5, 1.0 if number < FEWEST_TRUE - 1 else None) for number in range(200)]
    refused = with_true_scores(PLAIN, few, "engine")
    assert refused.columns == PLAIN.columns
    assert f"expected {FEWEST_TRUE} deals with truth of a policy, got at most {FEWEST_TRUE - 1}" in refused.notes[-1]
    every = with_true_scores(PLAIN, [work._replace(truth=0.5) for work in few[:20]], "engine")
    assert next(row.values["true_score"] for row in every.rows if row.policy == "x").corrected.value == 0.5
    one_deal = [replace_deal(work, "same") for work in few]
    assert "got at most 1;" in with_true_scores(PLAIN, one_deal, "engine").notes[-1]
    assert with_true_scores(PLAIN, [work._replace(truth=None) for work in few], "engine") is PLAIN


def replace_deal(work, deal):
    return work._replace(deal=deal)


def test_true_score_warns_if_scores_mean_different_quality_by_task():
    rng = np.random.default_rng(2)

    def board(other_task):
        own = works(rng, "x", 300, right=0.5, praised=0.2, share=0.5)
        own = [work._replace(part=f"task {number % 2}") for number, work in enumerate(own)]
        flip = [work._replace(truth=1 - work.truth) if work.truth is not None else work for work in own]
        return with_true_scores(PLAIN, own if not other_task else [*own[::2], *flip[1::2]], "engine")

    assert any("equal scores mean different quality" in line for line in board(True).caveats)
    assert not any("equal scores mean different quality" in line for line in board(False).caveats)


def test_log_with_truth_has_true_scores(tmp_path):
    rng, rows = np.random.default_rng(4), []
    for question in range(400):
        truth, known = rng.choice(["A", "B"]), rng.random() < 0.4
        verdict = truth if rng.random() < 0.8 else "A"
        rows.append({"item": f"q{question}", "judge": "j", "a": "x", "b": "y", "verdict": verdict, "order": "AB"})
        rows[-1]["truth"] = truth if known else ""
    path = tmp_path / "verdicts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (battles,) = open_log([path]).battles.values()
    board = battle_leaderboard("log", battles)
    score = {row.policy: row.values["true_score"] for row in board.rows}["x"]
    assert score.judged.value > 0.55
    assert score.corrected.low <= 0.5 <= score.corrected.high


@pytest.mark.parametrize("env", [simulation_v0.raw_env(mode="script"), writer_editor_v0.raw_env(task="translation")])
def test_declared_truths_are_statistics_of_the_environment(env):
    env.reset(seed=0)
    roles = {agent: set(env.infos[agent]) for agent in env.possible_agents}
    truths = env.declaration.truths
    assert any(
        truth.statistic in roles[f"{truth.role}_0"] and truth.part in roles[f"{truth.role}_0"] for truth in truths
    )
