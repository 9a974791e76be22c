"""Logs of others: the commands on them, and results that are exported and read again."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rating.cli import main
from rating.errors import RunError
from rating.play import run_directory
from rating.readers import open_log
from rating.schemes.battles import battle_leaderboard
from rating.stats import bradley_terry
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import Battle
from rating.viewer.source import open_source

RUN = """
seed = 3
workers = 1
[stop]
min_matches = 12
max_matches = 24
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "public_goods_v0"
[[policy]]
spec = "random"
environments = ["tictactoe_v0", "public_goods_v0"]
[[policy]]
spec = "greedy"
environments = ["tictactoe_v0"]
[[policy]]
spec = "minimax"
environments = ["tictactoe_v0"]
[[policy]]
spec = "free_rider"
environments = ["public_goods_v0"]
[[policy]]
spec = "conditional_cooperator"
environments = ["public_goods_v0"]
[[policy]]
spec = "full_contributor"
environments = ["public_goods_v0"]
"""
LOG = """question_id,model_a,model_b,winner,judge,score
q1,good,<b>bad</b>,model_a,ann,
q1,good,<b>bad</b>,tie,bob,
q2,<b>bad</b>,good,model_b,ann,0.25
q2,<b>bad</b>,good,model_b,bob,
q3,good,good,model_a,ann,
q4,good,new,whoever,ann,
q5,new,good,model_a,,
q6,<b>bad</b>,new,model_a,,
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(LOG, encoding="utf-8")
    return path


def run(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main([*map(str, arguments)]) == code
    return capsys.readouterr()


def test_open_log_keeps_battles_verdicts_and_rejected_rows(log):
    found = open_log([log])
    assert (found.format, len(found.judgements["votes"]), found.num_rejected) == ("battles", 4, 2)
    assert found.battles["votes"][2:4] == [
        Battle("<b>bad</b>", "good", 0.25, "q2"),
        Battle("<b>bad</b>", "good", 0.0, "q2"),
    ]
    assert [row.where for row in found.rejected] == ["line 6", "line 7"]


def test_rate_of_a_log_prints_the_first_rejected_rows(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("left,right,winner\nx,y,left\n" + "x,y,nobody\n" * 50)
    shown = run(capsys, "rate", tmp_path / "log.csv").err.splitlines()
    assert len(shown) == 21 and "log.csv, line 3: expected A, B" in shown[0] and "and 30 more rows" in shown[-1]
    (tmp_path / "bad.csv").write_text("left,right,winner\nx,x,left\n")
    shown = run(capsys, "rate", tmp_path / "bad.csv", code=2).err
    assert "got none; the first of 1 bad rows: line 2: expected two policies" in shown


@pytest.mark.slow
def test_commands_on_a_log(log, tmp_path, capsys):
    shown = json.loads(run(capsys, "rate", log, "--json").out)
    (board,) = shown["leaderboards"]
    assert (
        shown["answer"] == ["votes: no difference between the 3 policies is established yet (95 % confidence)"]
        and shown["summary"] is shown["costs"] is None
    )
    expected = battle_leaderboard("votes", open_log([log]).battles["votes"])
    assert (
        [row["policy"] for row in board["rows"]]
        == [row.policy for row in expected.rows]
        == ["good", "new", "<b>bad</b>"]
    )
    assert board["facts"]["seat_advantage"] is None and board["matches"] == 6
    assert "seats are not known" in run(capsys, "rate", log, "--explain").out
    assert "needs --output FILE" in run(capsys, "report", log, code=2).err
    shown = run(capsys, "report", log, "--output", tmp_path / "page.html", "--json").out
    page = Path(json.loads(shown)["report"]).read_text(encoding="utf-8")
    assert "&lt;b&gt;bad" in page and "<b>bad" not in page and "Judges of votes" in page
    assert "Read from votes.csv: 6 results of 3 policies, 2 rows left out" in page and "SHA-256" in page


def test_rate_of_several_files_compares_their_models(tmp_path, capsys):
    for model, value in (("a", "C"), ("b", "I")):
        log = {"eval": {"task": "sums", "model": model}, "samples": [{"id": 1, "scores": {"match": {"value": value}}}]}
        (tmp_path / f"{model}.json").write_text(json.dumps(log))
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    (board,) = json.loads(run(capsys, "rate", *paths, "--json", "--metric", "match").out)["leaderboards"]
    assert [row["policy"] for row in board["rows"]] == ["a", "b"]
    assert "expected every file once" in run(capsys, "rate", paths[0], paths[0], code=2).err
    assert "expected log files, or one directory of a run" in run(capsys, "rate", paths[0], tmp_path, code=2).err


@pytest.mark.parametrize("command", [["replay"], ["export"], ["resume"], ["resume", "--add", "random"]])
def test_command_that_needs_matches_refuses_a_log(log, capsys, command):
    run(capsys, command[0], log, *command[1:], code=2)


def test_leaderboard_of_fractions_and_weights(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,score,weight\nx,y,0.8,3\ny,x,0.4,\nx,y,0.5,0.5\n")
    with open_source(path) as source:
        (board,) = source.leaderboards()
    wins, games = np.array([[0, 0.8 * 3 + 0.6 + 0.25], [0, 0]]), np.array([[0, 4.5], [0, 0]])
    battles = [Battle("x", "y", 0.8, weight=3), Battle("y", "x", 0.4), Battle("x", "y", 0.5, weight=0.5)]
    options = bradley_terry.standings(comparisons_of(battles)).fitted.options
    fitted = bradley_terry.fit_totals(("x", "y"), wins, games, replace(options, seat_term=False))
    assert {row.policy: row.rating.value for row in board.rows} == pytest.approx(
        dict(zip("xy", fitted.ratings, strict=True))
    )
    assert {row.policy: row.score.value for row in board.rows} == pytest.approx({"x": 3.25 / 4.5, "y": 1.25 / 4.5})


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    directory = tmp_path_factory.mktemp("played")
    (directory / "run.toml").write_text(RUN)
    assert main(["run", str(directory / "run.toml"), "--out", str(directory / "run"), "--quiet"]) == 0
    return directory / "run"


def ratings(battles, *, seated):
    fitted = bradley_terry.fit(comparisons_of(battles, seated=seated))
    return dict(zip(fitted.policies, fitted.ratings, strict=True)), fitted.seat_advantage


def test_summary_leaves_out_an_environment_of_ties(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(
        "environment,model_a,model_b,winner\nchess,x,y,model_a\nchess,y,x,model_a\ngo,x,y,tie\n", encoding="utf-8"
    )
    with open_source(log) as source:
        summary = source.summary(source.leaderboards())
    assert summary.pool.environments == ("chess",)
    assert summary.outside == {"go": "no policy has beaten another"}


def test_exported_battles_have_the_ratings_of_the_run(tmp_path, played, capsys):
    with open_source(played) as source:
        names = source.environments()
        battles = {name: source.battles(name) for name in names}
    with closing(run_directory.open_store(played)) as store:
        outcomes = list(store.outcomes())
    assert names == ("tictactoe_v0", "public_goods_v0")
    (tmp_path / "out.jsonl").write_text(run(capsys, "export", played, "--format", "battles").out)
    assert open_log([tmp_path / "out.jsonl"]).battles == battles
    with open_source(tmp_path / "out.jsonl", seated=True) as source:
        boards = {board.environment: board for board in source.leaderboards()}
    for name in names:
        fitted = bradley_terry.fit(bradley_terry.compare([one for one in outcomes if one.environment == name]))
        expected = dict(zip(fitted.policies, fitted.ratings, strict=True))
        assert ratings(battles[name], seated=True) == (pytest.approx(expected), pytest.approx(fitted.seat_advantage))
        found = bradley_terry.standings(bradley_terry.compare(one for one in outcomes if one.environment == name))
        assert boards[name].facts["seat_advantage"].value == pytest.approx(found.fitted.seat_advantage)
        assert [(row.policy, row.rating.value) for row in boards[name].rows] == [
            (row.policy, pytest.approx(row.rating.value)) for row in found.rows
        ]
    line = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert run(capsys, "replay", played, line["match"]).out
    assert main(["rate", str(tmp_path / "out.jsonl"), "--seated"]) == 0


def test_exported_matrix_has_the_ratings_of_the_run(tmp_path, played, capsys):
    assert "say --environment" in run(capsys, "export", played, "--format", "matrix", code=2).err
    table = run(capsys, "export", played, "--format", "matrix", "--environment", "tictactoe_v0").out
    (tmp_path / "table.csv").write_text(table)
    with open_source(played) as source:
        before, _ = ratings(source.battles("tictactoe_v0"), seated=False)
    (battles,) = open_log([tmp_path / "table.csv"]).battles.values()
    assert ratings(battles, seated=False)[0] == pytest.approx(before)


def test_exported_matrix_keeps_fractions(tmp_path, capsys):
    table = "policy,x,y,z\nx,,0.3,0.5\ny,0.7,,0.2\nz,0.5,0.8,\n"
    (tmp_path / "table.csv").write_text(table)
    assert run(capsys, "export", tmp_path / "table.csv", "--format", "matrix").out == table


def test_exported_verdicts_keep_both_stages(tmp_path, capsys):
    line = {"gamekey": [31, "x", "y"], "judges": ["ann", "bob"]}
    said = {"ann": {"winner": ["A", "Tie"]}, "bob": {"winner": ["B", None]}}
    before, after = tmp_path / "log.jsonl", tmp_path / "log.csv"
    before.write_text(json.dumps(line | said) + "\n")
    after.write_text(run(capsys, "export", before, "--format", "verdicts").out)
    expected = open_log([before])
    ann, bob = expected.judgements["log"]
    assert (ann.first, ann.final, bob.first, bob.final) == ("A", "tie", "B", None)
    found = open_log([after], "verdicts")
    assert (found.battles, found.judgements) == (expected.battles, expected.judgements)


def test_open_source_of_an_empty_directory_is_refused(tmp_path):
    with pytest.raises(RunError, match="expected the directory of a run"), open_source(tmp_path):
        pass


def test_exported_verdicts_keep_truth_and_task(tmp_path, capsys):
    before, after = tmp_path / "log.csv", tmp_path / "log2.csv"
    before.write_text("item,judge,verdict,a,b,truth,task\nq1,ann,A,x,y,B,sums\nq2,ann,tie,x,y,,\n")
    after.write_text(run(capsys, "export", before, "--format", "verdicts").out)
    first, second = open_log([after]).judgements["log"]
    assert (first.truth, first.part, second.truth, second.part) == ("B", "sums", None, "")
    assert [battle.truth for battle in open_log([after]).battles["log"]] == [0.0, None]
