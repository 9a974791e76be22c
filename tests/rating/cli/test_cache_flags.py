"""``--cache`` and ``--offline``: requirements, refusals, and cached runs without a key."""

import pytest

from rating.cli import main
from tests.support.hostile_server import hostile_server, say


@pytest.fixture
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_match_is_played_again_offline(tmp_path, capsys, no_key):
    words = ["play", "tictactoe_v0", "--policy", "player_1=random", "--json", "--cache", str(tmp_path / "cache")]
    moves = [say(f"X: ({row}, {column})") for row in (1, 2, 3) for column in (1, 2, 3)]
    with hostile_server(say("ready"), *moves * 3) as server:
        words += ["--policy", f"player_0=openai:mock:base_url={server.url}"]
        assert main(words) == 0
        first = capsys.readouterr().out
        asked = len(server.requests)
        assert main([*words, "--offline"]) == 0
        assert len(server.requests) == asked
    assert main([*words, "--offline", "--seed", "1"]) == 3
    again = capsys.readouterr()
    assert '"reply": "X: (1, 1)"' in first
    assert [line for line in again.out.splitlines() if '"digest"' in line] == [
        line for line in first.splitlines() if '"digest"' in line
    ]
    assert "the reply is not in the cache" in again.err


def test_unusable_cache_is_refused_without_a_directory(tmp_path, capsys, no_key):
    words = [
        "run",
        "--env",
        "tictactoe_v0",
        "--policy",
        "openai:mock",
        "--policy",
        "random",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(words) == 2
    assert "no key" in capsys.readouterr().err
    assert main([*words, "--offline"]) == 2
    assert "--cache DIR" in capsys.readouterr().err
    assert main([*words, "--offline", "--cache", str(tmp_path / "cache")]) == 2
    assert "there is none" in capsys.readouterr().err
    (tmp_path / "file").write_text("something")
    assert main([*words, "--cache", str(tmp_path / "file")]) == 2
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_run_is_read_without_a_key(tmp_path, capsys, no_key, monkeypatch):
    run = tmp_path / "run"
    words = ["run", "--env", "tictactoe_v0", "--policy", "openai:mock", "--policy", "random", "--max-matches", "2"]
    with hostile_server(*[say("no move")] * 500) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert main([*words, "--out", str(run)]) == 0
    monkeypatch.delenv("OPENAI_BASE_URL")
    for command in ("rate", "report"):
        assert main([command, str(run)]) == 0, capsys.readouterr().err
