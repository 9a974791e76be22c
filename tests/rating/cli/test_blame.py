"""``llmarena blame``: one match, a run, runs of others, and the curve in the report."""

import json
import re
import sys
import zlib
from base64 import b64decode
from contextlib import closing
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from rating.blame.drawing import curve
from rating.blame.results import read_results
from rating.cli import main
from rating.play import run_directory
from rating.viewer.web.app import make_app
from rating.viewer.web.links import Links
from tests.rating.runs import play_run, run_file
from tests.support.fault_server import fault_server

STOP = "min_matches = 4\nmax_matches = 4"


@pytest.fixture
def run(tmp_path):
    return play_run(tmp_path / "run", run_file("tictactoe_v0", policies=("random", "minimax"), stop=STOP))


def blame(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main(["blame", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def matches(run):
    with closing(run_directory.open_store(run)) as store:
        return [record.match.id for record in store.records()]


def test_blame_of_a_match_prints_the_turns_and_repeats(run, capsys, tmp_path):
    (first, *_) = matches(run)
    flags = (run, first[:10], "--with", "minimax", "--pairs", 10)
    printed = blame(capsys, *flags, "--picture", tmp_path / "curve.svg")
    assert re.match(rf"{first}  player_[01] \(random\), reward -1\n", printed)
    assert "against a reply of minimax, hidden information fixed" in printed
    assert printed.count("\n") >= 5
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")
    before = {path.name: path.read_bytes() for path in (run / "blame").iterdir()}
    assert blame(capsys, *flags) == printed
    assert {path.name: path.read_bytes() for path in (run / "blame").iterdir()} == before
    found = json.loads(blame(capsys, *flags, "--json"))
    assert found["question"]["match"] == first
    assert found["blamed"] is None or any(turn["turn"] == found["blamed"] for turn in found["turns"])
    assert main(["replay", str(run), "--verify"]) == 0  # the record is unchanged


def test_blame_of_a_run_prints_kinds_of_turns(run, capsys):
    printed = blame(capsys, run, "--with", "minimax", "--pairs", 8, "--matches", 3)
    assert sum(line.startswith(tuple(matches(run))) for line in printed.splitlines()) == 3
    assert re.search(r"kind of turn +turns +matches +mean cost", printed)
    assert {line.split()[0] for line in printed.splitlines()[5:] if line} >= {"opening", "middle"}
    found = json.loads(blame(capsys, run, "--with", "minimax", "--pairs", 8, "--matches", 3, "--json"))
    assert len(found["matches"]) == 3
    assert {row["kind"] for row in found["kinds"]} >= {"opening", "middle"}


def test_curve_is_in_the_report_and_on_the_board(run, capsys):
    (first, *_) = matches(run)
    blame(capsys, run, first, "--with", "minimax", "--pairs", 8)
    (result,) = read_results(run / "blame")[first]
    assert main(["report", str(run)]) == 0
    chunks = re.findall(r'class="chunk">([^<]*)<', (run / "report.html").read_text())
    shown = [match["curves"] for chunk in chunks for match in json.loads(zlib.decompress(b64decode(chunk)))["matches"]]
    assert sorted(shown) == [[], [], [], [curve(result)]]
    board = TestClient(make_app(run, Links("secret", {}), {"testserver"}))
    assert board.get(f"/board/secret/match/{first}").json()["curves"] == [curve(result)]
    question = replace(result.question, substitute="<script>&'\u202e", rewarded='"<b>')
    drawn = curve(result.model_copy(update={"question": question}))
    assert "<script" not in drawn and "<b>" not in drawn and "\u202e" not in drawn
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_report_refuses_a_damaged_result(run, capsys):
    (first, *_) = matches(run)
    blame(capsys, run, first, "--with", "minimax", "--pairs", 8)
    (path,) = (run / "blame").glob("*.json")
    text = path.read_text()
    for bad in (text.replace('"pairs"', '"more"', 1), "[" * 100_000, text.replace(first, "0" * 16), "1e999"):
        path.write_text(bad)
        capsys.readouterr()
        assert main(["report", str(run)]) == 2
        assert "expected a result of llmarena blame" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", ".jsonl", ".json", ".lock"])
def test_links_in_the_directory_of_results_are_refused(run, tmp_path, capsys, name):
    (first, *_) = matches(run)
    flags = (run, first, "--with", "minimax", "--pairs", 8)
    blame(capsys, *flags)
    target = tmp_path / "elsewhere"
    if name:
        (path,) = (run / "blame").glob(f"*{name}")
        path.rename(target)
    else:
        path = run / "blame"
        path.rename(target)
    path.symlink_to(target)
    assert "got a symbolic link" in blame(capsys, *flags, code=2)


def test_policies_of_a_run_are_not_imported_without_trust(tmp_path, capsys, monkeypatch):
    (tmp_path / "own_policies.py").write_text(
        "from agents.baselines.general import BASELINES\n\nMine = BASELINES['random']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run = play_run(tmp_path / "run", run_file("tictactoe_v0", policies=("own_policies:Mine", "minimax"), stop=STOP))
    del sys.modules["own_policies"]
    (tmp_path / "own_policies.py").write_text("raise RuntimeError('imported')\n")
    (first, *_) = matches(run)
    for arguments in ((), (first,), (first, "--seat", "player_0")):
        error = blame(capsys, run, *arguments, code=2)
        assert "if you trust the run, add --trust" in error
    assert "own_policies" not in sys.modules
    (tmp_path / "own_policies.py").write_text(
        "from agents.baselines.general import BASELINES\n\nMine = BASELINES['random']\n"
    )
    blame(capsys, run, first, "--trust", "--pairs", 8)


def test_blame_forecasts_the_cost_of_a_model(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    prices = tmp_path / "prices.toml"
    prices.write_text('[[price]]\nmodel = "mock"\ninput = 1.0\noutput = 2.0\n')
    (first, *_) = matches(run)
    with fault_server(reply=lambda request: "no idea") as server:
        model = f"openai:mock:base_url={server.url}"
        flags = ("blame", str(run), first, "--with", model, "--pairs", "8", "--prices", str(prices))
        assert main([*flags, "--json"]) == 0
        printed = capsys.readouterr()
        asked = server.counts["ok"]
        assert re.match(r"Forecast for mock: at most about \d+ calls, .* USD\.\n", printed.err)
        assert json.loads(printed.out)["invalid"] == asked > 0  # no reply has a move: asked again, then a forfeit
        assert main([*flags, "--yes"]) == 0
        assert server.counts["ok"] == asked


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pairs", "7"), "--pairs: expected at least 8"),
        (("--least", "-1"), "--least: expected a cost of 0 or more"),
        (("nothing",), "expected the id of one match, found none"),
        (("--picture", "x.svg"), "--picture: expected MATCH"),
        (("--seat", "X"), "--seat: expected one of player_0, player_1"),
        (("--message", "removed"), "expected a game with messages"),
        (("--with", "nobody"), "policy: expected one of"),
    ],
)
def test_blame_explains_what_it_cannot_do(run, capsys, arguments, message):
    assert message in blame(capsys, run, *arguments, code=2)
