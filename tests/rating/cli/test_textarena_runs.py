"""Games of TextArena on the command line and in training: runs, verified replay, report, check, deals."""

from pathlib import Path

import pytest

from agents.training import Deal
from rating.cli import main

pytestmark = pytest.mark.needs("textarena")

RUN = """
workers = 1
[stop]
matches = 2
[[environment]]
name = "textarena/Nim-v0"
[[environment]]
name = "textarena/Poker-v0"
options = { players = 3 }
scheme = "mean_reward"
[[environment]]
name = "textarena/IteratedPrisonersDilemma-v0"
[[policy]]
name = "a"
spec = "random"
[[policy]]
name = "b"
spec = "random"
[[policy]]
name = "c"
spec = "random"
"""


@pytest.mark.slow
def test_run_of_three_games_is_verified_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "run.toml", str(tmp_path / "out")
    file.write_text(RUN, encoding="utf-8")
    assert main(["run", str(file), "--out", out]) == 0
    assert main(["replay", out, "--verify"]) == 0
    assert "finished matches verified" in capsys.readouterr().out
    assert main(["report", out]) == 0
    assert "textarena/Poker-v0" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_check_leaves_out_the_redrawing_of_hidden_information(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "textarena/TicTacToe-v0", "--seeds", "2"]) == 0
    printed = capsys.readouterr().out
    assert "not checked, since the game does not redraw hidden information: hidden_information" in printed
    assert "kept   pickled_copies_play_on_identically" in printed


@pytest.mark.parametrize(
    ("environment", "reply"),
    [
        ("textarena/Nim-v0", "<think>[2 5]?</think>I remove [0 1]."),
        ("textarena/Poker-v0", "[Call]"),
        ("textarena/IteratedPrisonersDilemma-v0", "I will [Cooperate]"),
    ],
)
def test_deal_of_a_game_is_played_to_its_end(environment: str, reply: str) -> None:
    match = Deal(environment, 3, {"player_1": "random"}).match()
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync(reply)
    assert match.episode is not None
    assert not match.episode.forfeit("player_0")
    assert all(step.kind.name == "OK" for step in match.steps)
