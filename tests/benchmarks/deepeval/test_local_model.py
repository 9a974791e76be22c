"""A language model behind a real OpenAI-compatible server as player and as judge of DeepEval's tasks."""

import json
from pathlib import Path

import pytest

from benchmarks.deepeval.__main__ import PAPER
from benchmarks.experiments.command import main
from rating.cli import main as llmarena
from rating.play import run_directory
from rating.store.records import PLAYED
from tests.support.model_server import running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
DEMO = Path(__file__).parents[3] / "benchmarks" / "deepeval" / "demo.toml"


@pytest.fixture(scope="module")
def model(tiny_model):
    """The spec of a tiny model that a server on loopback runs."""
    with running_server(tiny_model) as server:
        yield f"openai:{server.model}:base_url={server.url},max_tokens=12,timeout=60"


@pytest.mark.parametrize("row", ["t3", "t4"])
def test_local_model_plays_and_unreadable_judge_abstains(row, model, tmp_path):
    words = ["--matches", "1", "--alone", "--policy", model, "echo", "--judge", model, "rubric", "--out", str(tmp_path)]
    assert main(PAPER, [row, *words]) == 0
    report = json.loads((tmp_path / f"{row}.json").read_text())
    tables = {table["name"]: table["rows"] for table in report["tables"]}
    assert {line["scored (measured)"] for line in tables["matches"]} == {2}
    assert {line["abstentions (measured)"] for line in tables["judges"] if line["judge"] == model} == {2}
    assert any(note.startswith(f"{model} judges matches that it plays itself") for note in report["notes"])


@pytest.mark.parametrize("line", ['judge = ["rubric"]', 'spec = "random"'])
def test_one_line_of_the_run_file_seats_a_model(line, model, tmp_path):
    old = line.split('"')[1]
    text = DEMO.read_text(encoding="utf-8").replace(line, line.replace(old, model), 1)
    text = text.replace("matches = 40\nmin_matches = 40", "matches = 1\nmin_matches = 1\nmax_matches = 1")
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    assert llmarena(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run")]) == 0
    _, store = run_directory.open_run(tmp_path / "run")
    records = list(store.records())
    store.close()
    assert {record.status for record in records} <= set(PLAYED)
    seated = {record.match.environment for record in records if model in record.match.policies}
    assert len(seated) == (1 if "judge" in line else 4)
