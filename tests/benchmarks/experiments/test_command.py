"""The command of a paper: output, written files, resuming and refusals."""

import csv
import itertools
import json
import sqlite3
from dataclasses import replace

import pytest

from benchmarks.experiments.command import Paper, main
from rating.cli import main as llmarena
from tests.benchmarks.experiments import example_row
from tests.support.hostile_server import hostile_server, say

PAPER = Paper(
    name="example", title="A paper", rows={"wins": "tests.benchmarks.experiments.example_row"}, aliases={"t9": "wins"}
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The directory of a row that was played."""
    out = tmp_path_factory.mktemp("results")
    assert main(PAPER, ["wins", "--out", str(out), "--matches", "6"]) == 0
    return out


def files(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def test_without_a_row_it_lists_them(capsys):
    assert main(PAPER, []) == 0
    shown = capsys.readouterr().out
    assert "wins  who wins with the first move (An example, Table 1)" in shown
    assert main(PAPER, ["--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["row"] == "wins"


def test_a_row_says_what_it_will_cost_before_it_plays(capsys, tmp_path):
    assert main(PAPER, ["t9", "--out", str(tmp_path), "--smoke"]) == 0
    shown = capsys.readouterr().out
    before, _, after = shown.partition("**who wins**")
    assert "n = 2" in before
    assert "tictactoe_v0: 2 matches of each policy; for a model about" in before
    assert "calls" in before
    assert "It shows what it shows. It does not show the rest." in before
    assert "wrote" in after


@pytest.mark.slow
def test_a_row_is_written_in_all_forms_and_its_run_is_one_like_any_other(results, capsys):
    assert files(results).keys() == {
        "wins.json",
        "wins.md",
        "wins.csv",
        "wins-shares.png",
        "wins-shares.svg",
        "wins-note.txt",
    }
    report = json.loads((results / "wins.json").read_text())
    assert report["runs"]["games"]["matches"] == {"finished": 12}
    (line,) = [
        line for line in csv.DictReader((results / "wins.csv").read_text().splitlines()) if line["player"] == "random"
    ]
    assert line["wins (measured) n"] == "6"
    run = str(results / "wins" / "games")
    assert llmarena(["replay", run, "--verify"]) == 0
    assert llmarena(["rate", run]) == 0
    assert llmarena(["report", run]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("part", [[], ["games"]])
def test_a_row_can_be_computed_again_without_playing(results, tmp_path, capsys, part):
    run = results.joinpath("wins", *part)
    assert main(PAPER, ["wins", "--run", str(run), "--out", str(tmp_path / "again"), "--matches", "6"]) == 0
    assert "matches of each policy; for a model" not in capsys.readouterr().out
    assert files(tmp_path / "again") == files(results)


def test_the_same_command_again_plays_nothing_and_writes_the_same(results, capsys):
    before = files(results)
    with sqlite3.connect(results / "wins" / "games" / "run.db") as db:
        tries = db.execute("SELECT sum(tries) FROM match").fetchone()
    assert main(PAPER, ["wins", "--out", str(results), "--matches", "6"]) == 0
    assert files(results) == before
    with sqlite3.connect(results / "wins" / "games" / "run.db") as db:
        assert db.execute("SELECT sum(tries) FROM match").fetchone() == tries
    capsys.readouterr()


def test_json_on_standard_output_is_the_report(results, capsys):
    assert main(PAPER, ["wins", "--run", str(results / "wins"), "--out", str(results), "--matches", "6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((results / "wins.json").read_text())
    assert main(PAPER, ["all", "--run", str(results), "--out", str(results), "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["row"] == "wins"


def test_all_leaves_out_a_row_that_needs_an_option(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(example_row, "ROW", replace(example_row.ROW, needs="matches"))
    assert main(PAPER, ["all", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err.startswith("wins is left out, since it needs --matches")
    assert not files(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["winz"], "row: expected one of 'wins', 'all', got 'winz'; did you mean 'wins'?"),
        (["wins", "--policy", "call"], "for tictactoe_v0"),
        (["wins", "--alone"], "expected somebody to measure"),
        (["wins", "--matches", "5"], "its run file says otherwise"),
        (["wins", "--run", "nowhere"], "expected a run, or one in games, but there is none"),
        (["wins", "--same", "GPT-4"], "expected MODEL=POLICY, got 'GPT-4'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_overwritten(results, arguments, message, capsys):
    before = files(results)
    assert main(PAPER, [*arguments, "--out", str(results)]) == 2
    assert message in capsys.readouterr().err
    assert files(results) == before


RUN_FILE = """
[[environment]]
name = "{name}"
{keys}

[[policy]]
spec = "random"

[stop]
matches = 2
"""


@pytest.mark.parametrize(
    ("name", "keys", "message"),
    [
        ("bid_v0", 'scheme = "self_play"', "expected a run of tictactoe_v0, got one of bid_v0"),
        ("tictactoe_v0", 'scheme = "field"', "expected a run with scheme = 'self_play', got 'field'"),
        (
            "tictactoe_v0",
            'scheme = "self_play"\noptions = { hint = true }',
            "expected a run with hint = False, got True",
        ),
    ],
)
def test_a_run_of_something_else_is_refused(tmp_path, capsys, name, keys, message):
    run_file = tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(name=name, keys=keys))
    assert llmarena(["run", str(run_file), "--out", str(tmp_path / "run")]) == 0
    assert main(PAPER, ["wins", "--run", str(tmp_path / "run"), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert main(PAPER, ["wins", "--run", str(tmp_path), "--out", str(tmp_path / "out")]) == 2  # the only run in there
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_environment_that_nobody_names_is_left_out_and_said_so(tmp_path, capsys):
    arguments = [
        "wins",
        "--smoke",
        "--out",
        str(tmp_path),
        "--policy",
        "call@holdem_v0",
        "--policy",
        "greedy@tictactoe_v0",
    ]
    assert main(PAPER, arguments) == 0
    shown = capsys.readouterr()
    assert "call is left out: it is named for holdem_v0 only" in shown.err
    assert "| greedy" in shown.out


class Failing:
    """A policy whose provider is down."""

    def __call__(self, observation):
        from agents.errors import ProviderError

        raise ProviderError("the server is down")


def test_void_matches_are_said_and_end_with_3(tmp_path, capsys):
    arguments = ["wins", "--smoke", "--out", str(tmp_path), "--policy", f"{__name__}:Failing", "--workers", "1"]
    assert main(PAPER, arguments) == 3
    shown = capsys.readouterr()
    assert "2 matches are void" in shown.err
    assert json.loads((tmp_path / "wins.json").read_text())["runs"]["games"]["matches"]["void"] == 2


def test_a_row_is_played_again_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["wins", "--matches", "6", "--cache", str(tmp_path / "cache")]
    with hostile_server(then=(say(f"X: ({n % 3 + 1}, {n // 3 % 3 + 1})") for n in itertools.count())) as server:
        words += ["--policy", f"openai:mock:base_url={server.url}"]
        assert main(PAPER, [*words, "--out", str(tmp_path / "first")]) == 0
        asked = len(server.requests)
        assert asked > 0
    assert main(PAPER, [*words, "--offline", "--out", str(tmp_path / "second")]) == 0
    first, second = (json.loads((tmp_path / name / "wins.json").read_text()) for name in ("first", "second"))
    assert first["options"] == second["options"]
    assert first["runs"]["games"]["digest"] == second["runs"]["games"]["digest"]
    assert first["tables"] == second["tables"]
    assert main(PAPER, ["wins", "--offline", "--out", str(tmp_path / "third")]) == 2
