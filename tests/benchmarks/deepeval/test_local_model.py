"""A language model behind a real OpenAI-compatible server as player and as judge of DeepEval's tasks."""

import json

import pytest

from benchmarks.deepeval.__main__ import PAPER
from benchmarks.experiments.command import main
from tests.support.model_server import running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


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
