"""A language model behind an OpenAI-compatible server as debater and as judge in Auto-Arena's tournament."""

from itertools import repeat
from pathlib import Path

import pytest

from rating.cli import main
from rating.play import run_directory
from rating.store.records import PLAYED
from tests.support.hostile_server import hostile_server, say

pytestmark = pytest.mark.slow
DEMO = Path(__file__).parents[3] / "benchmarks" / "auto_arena" / "demo.toml"
REPLY = "<respond>It is so.</respond>\n<criticize>You say it is not.</criticize>\n<raise>Why?</raise>\n[[B]]"


def seats_of_the_model(directory, model):
    """Plays the run file, one line of it changed and with one question a pairing, and returns where the model sat."""
    text = DEMO.read_text(encoding="utf-8").replace("questions = 40", "questions = 1")
    (line,) = (line for line in text.splitlines() if "strength=-0.5" in line)
    (directory / "run.toml").write_text(text.replace(line, f'spec = "{model}"'), encoding="utf-8")
    assert main(["run", str(directory / "run.toml"), "--out", str(directory / "run")]) == 0
    assert main(["replay", str(directory / "run"), "--verify"]) == 0
    _, store = run_directory.open_run(directory / "run")
    records = list(store.records())
    store.close()
    assert len(records) == 12 and {record.status for record in records} <= set(PLAYED)
    seats = [seat for record in records for seat in record.outcome.seats if seat.policy == "level_1"]
    assert {seat.rated for seat in seats} == {True, False}
    return [seat for seat in seats if seat.rated], [seat for seat in seats if not seat.rated]


def test_model_reply_counts_as_a_verdict(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of nobody")
    with hostile_server(then=repeat(say(REPLY))) as server:
        debates, verdicts = seats_of_the_model(tmp_path, f"openai:mock:base_url={server.url}")
    for seat in debates:
        assert seat.statistics["words"] > 0
        assert seat.statistics["missing"] == 0 < seat.statistics["forbidden"]
    assert {(seat.statistics["verdict_first"], seat.statistics["verdict_final"]) for seat in verdicts} == {(1.0, 1.0)}


def test_a_model_that_only_babbles_loses_and_abstains(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of nobody")
    with hostile_server(then=repeat(say("the the the"))) as server:
        debates, verdicts = seats_of_the_model(tmp_path, f"openai:mock:base_url={server.url}")
    assert {seat.reward for seat in debates} == {-1.0}
    assert {seat.statistics["abstained"] for seat in verdicts} == {2.0}
