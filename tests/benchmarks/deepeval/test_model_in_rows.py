"""A language model that babbles as player and as judge of DeepEval's tasks."""

import json

import pytest

from benchmarks.deepeval.__main__ import PAPER
from benchmarks.experiments.command import main

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("row", ["t3", "t4"])
def test_local_model_plays_and_unreadable_judge_abstains(row, babbler, tmp_path):
    words = [
        "--matches",
        "1",
        "--alone",
        "--policy",
        babbler,
        "echo",
        "--judge",
        babbler,
        "rubric",
        "--out",
        str(tmp_path),
    ]
    assert main(PAPER, [row, *words]) == 0
    report = json.loads((tmp_path / f"{row}.json").read_text())
    tables = {table["name"]: table["rows"] for table in report["tables"]}
    assert {line["scored (measured)"] for line in tables["matches"]} == {2}
    assert {line["abstentions (measured)"] for line in tables["judges"] if line["judge"] == babbler} == {2}
    assert any(note.startswith(f"{babbler} judges matches that it plays itself") for note in report["notes"])
