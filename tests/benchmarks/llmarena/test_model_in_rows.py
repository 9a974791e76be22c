"""A language model that babbles in one row of each kind."""

import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.llmarena.__main__ import PAPER

pytestmark = pytest.mark.slow


ROWS = {
    "t2": ["--matches", "2"],  # self-play
    "t3": ["--matches", "1", "--judge"],  # a field with hidden roles, and a judge
    "f5": ["--matches", "1"],  # co-operation
}


@pytest.mark.parametrize("row", ROWS)
def test_a_model_plays_a_row_of_each_kind(row, babbler, tmp_path, capsys):
    arguments = [
        row,
        "--smoke",
        *ROWS[row],
        *([babbler] if row == "t3" else []),
        "--policy",
        babbler,
        "--out",
        str(tmp_path),
    ]
    assert main(PAPER, arguments) == 0
    shown = capsys.readouterr().out
    report = json.loads((tmp_path / f"{row}.json").read_text())
    assert set.union(*(set(run["matches"]) for run in report["runs"].values())) == {"finished"}
    assert babbler in {line.get("player") for table in report["tables"] for line in table["rows"]}
    assert f"| {babbler}" in shown
