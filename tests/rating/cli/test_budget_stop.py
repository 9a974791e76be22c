"""A run that a limit stops prints its leaderboard and a command that plays on."""

import re
import shlex

import pytest

from agents.errors import ProviderError
from rating.cli import main
from tests.rating.play.calls import PRICES, answer, run_file
from tests.rating.players import Asked
from tests.rating.runs import asked

pytestmark = pytest.mark.timeout(120)


def run(capsys, *words):
    """Runs a command; returns its exit code, its output, and the arguments of the command that it prints."""
    code = main([*map(str, words)])
    out, err = capsys.readouterr()
    printed = re.search(r"^Resume with: llmarena (.*)$", err, re.M)
    return code, out, printed and shlex.split(printed[1])


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("tables", "flags", "flag"),
    [
        ("", ["--max-tokens", "3000"], "--max-tokens"),
        (PRICES, ["--max-cost", "1", "--max-tokens", "10000000"], "--max-cost"),
        (PRICES + "[budget]\ncost = 1\n", [], "--max-cost"),
        ("[budget]\nhours = 1e-7\n", [], "--max-time"),
    ],
)
def test_budget_stop_prints_leaderboard_and_resume_command(capsys, tmp_path, monkeypatch, tables, flags, flag):
    answer(monkeypatch)
    (tmp_path / "run.toml").write_text(run_file(tables=tables))
    directory, limits = tmp_path / "it's $HOME", []
    words = ["run", tmp_path / "run.toml", "--quiet", "--out", directory, *flags]
    while True:
        code, out, words = run(capsys, *words)
        if code == 0:
            break
        assert code == 4 and (flag == "--max-time" or "rating" in out)
        assert words[:2] == ["resume", str(directory)]
        given = dict(zip(words[2::2], words[3::2], strict=True))
        assert given.keys() == {flag, *flags[::2]}
        limits.append(float(given[flag]))
        assert len(limits) < 20 and limits == sorted(set(limits))
        words.append("--quiet")
    assert limits and "rating" in out


def test_error_stop_prints_leaderboard_and_resume_command(capsys, tmp_path):
    text = 'executor = "asyncio"\ntries = 1\n[stop]\nmax_matches = 40\n[[environment]]\nname = "tictactoe_v0"\n'
    text += asked("ab")
    (tmp_path / "run.toml").write_text(text)
    Asked.failing["a"] = ProviderError("503")
    try:
        code, out, words = run(capsys, "run", tmp_path / "run.toml", "--max-errors", "2", "--out", tmp_path / "a run")
    finally:
        Asked.failing.clear()
    assert code == 3 and words == ["resume", str(tmp_path / "a run"), "--max-errors", "2"]
    code, out, _ = run(capsys, *words)
    assert code == 0 and "40 matches" in out
