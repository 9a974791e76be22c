"""A language model behind a real OpenAI-compatible server in one row of each kind."""

import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.llmarena.__main__ import PAPER
from tests.support.model_server import running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def model(tiny_model):
    """The spec of a tiny model that a server on loopback runs."""
    with running_server(tiny_model) as server:
        yield f"openai:{server.model}:base_url={server.url},max_tokens=12,timeout=60"


ROWS = {
    "t2": ["--matches", "2"],  # self-play
    "t3": ["--matches", "1", "--judge"],  # a field with hidden roles, and a judge
    "f5": ["--matches", "1"],  # co-operation
}


@pytest.mark.parametrize("row", ROWS)
def test_a_model_plays_a_row_of_each_kind(row, model, tmp_path, capsys):
    arguments = [
        row,
        "--smoke",
        *ROWS[row],
        *([model] if row == "t3" else []),
        "--policy",
        model,
        "--out",
        str(tmp_path),
    ]
    assert main(PAPER, arguments) == 0
    shown = capsys.readouterr().out
    report = json.loads((tmp_path / f"{row}.json").read_text())
    assert set.union(*(set(run["matches"]) for run in report["runs"].values())) == {"finished"}
    assert model in {line.get("player") for table in report["tables"] for line in table["rows"]}
    assert f"| {model}" in shown
