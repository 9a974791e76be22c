"""The directory of an import, the commands on it, and results that go out and come in again."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rating.cli import main
from rating.errors import RunError
from rating.play import run_directory
from rating.readers.directory import load_battles, load_judgements, write_import
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


@pytest.fixture
def imported(tmp_path, log, capsys):
    assert main(["import", str(log), "--out", str(tmp_path / "import")]) == 0
    capsys.readouterr()
    return tmp_path / "import"


def run(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main([*map(str, arguments)]) == code
    return capsys.readouterr()


def content(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_the_directory_holds_what_was_read_and_what_was_left_out(tmp_path, log, imported, capsys):
    manifest = json.loads((imported / "import.json").read_text())
    assert (manifest["format"], manifest["battles"], manifest["judgements"], manifest["rejected"]) == (
        "battles",
        6,
        4,
        2,
    )
    assert manifest["files"][0]["name"] == "votes.csv" and manifest["files"][0]["size"] == len(LOG)
    assert load_battles(imported)["votes"][2:4] == [
        Battle("<b>bad</b>", "good", 0.25, "q2"),
        Battle("<b>bad</b>", "good", 0.0, "q2"),
    ]
    rejected = (imported / "rejected.csv").read_text()
    assert all(f'votes.csv,line {line},"expected' in rejected for line in (6, 7))
    again = run(capsys, "import", log, "--out", tmp_path / "again", "--format", "battles")
    assert content(tmp_path / "again") == content(imported)
    assert "votes.csv, line 6: expected two policies" in again.err
    assert "expected a new or empty directory" in run(capsys, "import", log, "--out", imported, code=2).err
    (tmp_path / "bad.csv").write_text("left,right,winner\nx,x,left\n")
    assert (
        "got none; the first of 1 bad rows: line 2"
        in run(capsys, "import", tmp_path / "bad.csv", "--out", tmp_path / "none", code=2).err
    )
    assert not (tmp_path / "none").exists()


def test_the_first_bad_rows_are_shown_and_all_are_kept(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("left,right,winner\nx,y,left\n" + "x,y,nobody\n" * 50)
    shown = run(capsys, "import", tmp_path / "log.csv", "--out", tmp_path / "out").err.splitlines()
    assert len(shown) == 21 and "and 30 more: all are in" in shown[-1]
    assert len((tmp_path / "out" / "rejected.csv").read_text().splitlines()) == 51


@pytest.mark.slow
def test_commands_on_an_import(imported, capsys):
    (board,) = json.loads(run(capsys, "rate", imported, "--json").out)
    expected = battle_leaderboard("votes", load_battles(imported)["votes"])
    assert (
        [row["policy"] for row in board["rows"]]
        == [row.policy for row in expected.rows]
        == ["good", "new", "<b>bad</b>"]
    )
    assert board["facts"]["seat_advantage"] is None and board["matches"] == 6
    assert "seats are not known" in run(capsys, "rate", imported).out
    study = json.loads(run(capsys, "agreement", imported, "--json").out)
    assert study["judges"] == 2 and study["items"] == 2
    page = Path(json.loads(run(capsys, "report", imported, "--json").out)["report"]).read_text(encoding="utf-8")
    assert "&lt;b&gt;bad" in page and "<b>bad" not in page and "SHA-256" in page and "Judges of votes" in page


@pytest.mark.parametrize(
    "command",
    [["replay"], ["replay", "--verify"], ["resume"], ["export"], ["resume", "--add", "random"]],
)
def test_what_needs_matches_says_what_an_import_is(imported, capsys, command):
    at = 2 if command[0] == "tournament" else 1
    assert (
        "got an import: it holds results that others played"
        in run(capsys, *command[:at], imported, *command[at:], code=2).err
    )


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("import.json", '{"version": 1}'),
        ("import.json", "[]"),
        ("battles.csv", "first,second\n"),
        ("battles.csv", "environment,first,second,score,deal,weight\ne,x,y,2,,1\n"),
        ("battles.csv", "environment,first,second,score,deal,weight\ne,x,y\n"),
        ("judgements.csv", "environment,item,judge,first,final,a,b,words_a,words_b,contest\ne,q,j,,whoever,x,y,,,q\n"),
    ],
)
def test_a_damaged_import_is_refused(imported, capsys, file, text):
    (imported / file).write_text(text)
    command = "agreement" if file == "judgements.csv" else "rate"
    assert f"{file}: expected what `llmarena import` wrote" in run(capsys, command, imported, code=2).err


def test_fractions_and_weights_are_rated_as_they_are(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,score,weight\nx,y,0.8,3\ny,x,0.4,\nx,y,0.5,0.5\n")
    write_import([path], tmp_path / "out")
    with open_source(tmp_path / "out") as source:
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


def test_an_environment_in_which_all_is_tied_has_no_part_in_the_mean_score(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(
        "environment,model_a,model_b,winner\nchess,x,y,model_a\nchess,y,x,model_a\ngo,x,y,tie\n", encoding="utf-8"
    )
    with open_source(log) as source:
        summary = source.summary(source.leaderboards())
    assert summary.pool.environments == ("chess",)
    assert summary.outside == {"go": "nobody has beaten another there"}


def test_a_run_that_goes_out_and_comes_in_again_has_the_same_ratings(tmp_path, played, capsys):
    with open_source(played) as source:
        names = source.environments()
        battles = {name: source.battles(name) for name in names}
    with closing(run_directory.open_store(played)) as store:
        outcomes = list(store.outcomes())
    assert names == ("tictactoe_v0", "public_goods_v0")
    (tmp_path / "out.jsonl").write_text(run(capsys, "export", played, "--format", "battles").out)
    run(capsys, "import", tmp_path / "out.jsonl", "--out", tmp_path / "back", "--seated")
    assert load_battles(tmp_path / "back") == battles
    with open_source(tmp_path / "back") as source:
        boards = {board.environment: board for board in source.leaderboards()}
    for name in names:
        fitted = bradley_terry.fit([one for one in outcomes if one.environment == name])
        expected = dict(zip(fitted.policies, fitted.ratings, strict=True))
        assert ratings(battles[name], seated=True) == (pytest.approx(expected), pytest.approx(fitted.seat_advantage))
        found = bradley_terry.standings(bradley_terry.compare(one for one in outcomes if one.environment == name))
        assert boards[name].facts["seat_advantage"].value == pytest.approx(found.fitted.seat_advantage)
        assert [(row.policy, row.rating.value) for row in boards[name].rows] == [
            (row.policy, pytest.approx(row.rating)) for row in found.rows
        ]
    line = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert run(capsys, "replay", played, line["match"]).out
    assert main(["rate", str(tmp_path / "back")]) == 0


def test_a_table_of_wins_that_goes_out_and_comes_in_again_has_the_same_ratings(tmp_path, played, capsys):
    assert "say --environment" in run(capsys, "export", played, "--format", "matrix", code=2).err
    table = run(capsys, "export", played, "--format", "matrix", "--environment", "tictactoe_v0").out
    (tmp_path / "table.csv").write_text(table)
    run(capsys, "import", tmp_path / "table.csv", "--out", tmp_path / "back")
    with open_source(played) as source:
        before, _ = ratings(source.battles("tictactoe_v0"), seated=False)
    (battles,) = load_battles(tmp_path / "back").values()
    assert ratings(battles, seated=False)[0] == pytest.approx(before)


def test_fractions_of_a_table_go_out_as_they_came_in(tmp_path, capsys):
    table = "policy,x,y,z\nx,,0.3,0.5\ny,0.7,,0.2\nz,0.5,0.8,\n"
    (tmp_path / "table.csv").write_text(table)
    assert run(capsys, "export", tmp_path / "table.csv", "--format", "matrix").out == table


def test_verdicts_before_and_after_a_discussion_go_out_and_come_in_again(tmp_path, capsys):
    line = {"gamekey": [31, "x", "y"], "judges": ["ann", "bob"]}
    said = {"ann": {"winner": ["A", "Tie"]}, "bob": {"winner": ["B", None]}}
    (tmp_path / "log.jsonl").write_text(json.dumps(line | said) + "\n")
    run(capsys, "import", tmp_path / "log.jsonl", "--out", tmp_path / "import")
    (tmp_path / "log.csv").write_text(run(capsys, "export", tmp_path / "import", "--format", "verdicts").out)
    run(capsys, "import", tmp_path / "log.csv", "--out", tmp_path / "back", "--format", "verdicts")
    ann, bob = load_judgements(tmp_path / "import")["log"]
    assert (ann.first, ann.final, bob.first, bob.final) == ("A", "tie", "B", None)
    for load in (load_battles, load_judgements):
        assert load(tmp_path / "back") == load(tmp_path / "import") != {}


def test_the_report_of_a_log_asks_where_to_write(log, tmp_path, capsys):
    assert "say --output" in run(capsys, "report", log, code=2).err
    run(capsys, "report", log, "--output", tmp_path / "page.html")
    assert "Read from" in (tmp_path / "page.html").read_text()


def test_a_log_is_opened_without_an_import(log, tmp_path):
    with open_source(log) as source:
        assert source.environments() == ("votes",) and len(source.battles("votes")) == 6
    with pytest.raises(RunError, match="expected the directory of a run"):
        open_source(tmp_path)
