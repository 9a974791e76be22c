"""Environments of installed packages on the command line: listed, checked, played, rated and verified like the suite's own."""

import importlib
import json
import re
import sys

import pytest

from llmarena_envs.installed import find_installed
from rating.cli import main
from rating.play import run_directory
from tests.rating.third_party import write_environment
from tests.support.distributions import write_distribution

DUEL = 'return {"player_0": 1 if said["player_0"] > said["player_1"] else -1}'


RUN = """
workers = 2
stop = { matches = 8 }
environment = [{ name = "elsewhere/numbers-v0" }]
policy = [{ spec = "nine" }, { spec = "random" }]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an environment, its players, and packages that are broken in every way."""
    module = write_environment(tmp_path, "numbers", ("player_0", "player_1"), 'scheme="mean_reward"', DUEL)
    package = tmp_path / "elsewhere"
    (package / "baselines.py").write_text(
        'class Nine:\n    """Says nine.\\x1b[31m"""\n\n    def __call__(self, observation):\n        return "9"\n\n\n'
        'BASELINES = {"nine": Nine}\n'
    )
    (package / "needs_options.py").write_text("from elsewhere.numbers import raw_env\n\n\ndef env(size):\n    pass\n")
    (package / "broken.py").write_text("raise ImportError('no such library')\n")
    write_distribution(
        tmp_path, "number-games", "1.2", {"numbers_v0": module, "needs_options_v0": "elsewhere.needs_options"}
    )
    write_distribution(tmp_path, "broken-games", "0.1", {"broken_v0": "elsewhere.broken", "hanabi_v0": module})
    write_distribution(tmp_path, "hostile\x1b[2J", "0.1", {"../../etc_v0": module})
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    find_installed.cache_clear()
    yield tmp_path
    find_installed.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "elsewhere"]:
        del sys.modules[name]


def test_list_warns_of_broken_environments_of_packages(folder, capsys):
    assert main(["list", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = {row["name"]: row for row in json.loads(out)}
    assert len(rows) == 13
    assert list(rows["numbers_v0"].pop("policies")) == ["first_legal", "mcts", "nine", "random"]
    assert rows["numbers_v0"] == {
        "name": "numbers_v0",
        "id": "elsewhere/numbers-v0",
        "title": "Agents name a number from 0 to 9 in turn; a judge abstains with 9",
        "agents": ["player_0", "player_1"],
        "max_turns": 2,
        "abilities": [],
        "distribution": "number-games 1.2",
    }
    assert rows["hanabi_v0"]["distribution"] == "llmarena-envs"
    warnings = err.splitlines()
    assert all(line.startswith("warning: environment ") for line in warnings)
    for name, distribution, why in (
        ("broken_v0", "broken-games 0.1", "no such library"),
        ("hanabi_v0", "broken-games 0.1", "the suite itself has an environment of this name"),
        ("needs_options_v0", "number-games 1.2", "TypeError: .*size"),
        ("../../etc_v0", r"hostile\x1b[2J 0.1", "expected a name of small letters"),
    ):
        (line,) = [line for line in warnings if f"{name!r} of {distribution}" in line]
        assert re.search(why, line)
    assert len(warnings) == 4
    assert main(["list"]) == 0
    assert "numbers_v0             Agents name" in capsys.readouterr().out


def test_list_of_an_environment_names_policies_of_packages(folder, capsys):
    assert main(["list", "numbers_v0"]) == 0
    assert "  nine           Says nine.\\x1b[31m\n" in capsys.readouterr().out
    assert main(["list", "elsewhere/numbers-v0", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert list(row["policies"]) == ["first_legal", "mcts", "nine", "random"]
    assert main(["list", "broken_v0"]) == 2
    assert "environment 'broken_v0' of broken-games 0.1" in capsys.readouterr().err


@pytest.mark.slow
def test_run_resumes_with_another_version_of_a_package(folder, capsys):
    (folder / "run.toml").write_text(RUN)
    out = folder / "run"
    assert main(["run", str(folder / "run.toml"), "--out", str(out)]) == 0
    assert main(["replay", "--verify", str(out)]) == 0
    assert main(["export", str(out), "--format", "jsonl"]) == 0
    assert '"environment": "numbers_v0"' in capsys.readouterr().out.replace('":"', '": "')
    (folder / "number_games-1.2.dist-info" / "METADATA").write_text("Name: number-games\nVersion: 1.3\n")
    find_installed.cache_clear()
    assert main(["resume", str(out)]) == 0
    store = run_directory.open_store(out)
    assert store.facts()["distribution:numbers_v0"] == "number-games 1.2, then number-games 1.3"
    store.close()
    assert main(["report", str(out)]) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "numbers_v0 is of number-games 1.2, then number-games 1.3." in page
    find_installed.cache_clear()
    for place in folder.glob("*.dist-info"):
        (place / "entry_points.txt").unlink()
    capsys.readouterr()
    assert main(["replay", "--verify", str(out)]) == 1
    assert "got 'numbers_v0' (one of another package is known by its name where" in capsys.readouterr().out


@pytest.mark.slow
def test_check_lists_kept_rules_and_the_broken_one(folder, capsys):
    assert main(["check", "tictactoe_v0", "--seeds", "2", "--option", "language=zh"]) == 0
    out, _ = capsys.readouterr()
    *kept, last = out.splitlines()
    assert all(line.startswith("kept   ") for line in kept)
    assert last == f"tictactoe_v0 keeps all {len(kept)} rules"
    assert main(["check", "tictactoe_v0", "--seeds", "2", "--option", "obs_type=vector"]) == 0
    capsys.readouterr()
    assert main(["check", "numbers_v0", "--seeds", "2"]) == 1
    out, err = capsys.readouterr()
    *kept, broken = out.splitlines()
    assert all(line.startswith("kept   ") for line in kept)
    rule = broken.removeprefix("broken ").partition(":")[0]
    assert f"the rule {rule!r} is broken at " in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tictactoe_v0", "--seeds", "1"], "--seeds: expected"),
        (["tictactoe_v0", "--option", "langage=zh"], "did you mean 'language'"),
        (["tictactoe_v0", "--option", "obs_type=picture"], "expected one of 'text', 'vector'"),
        (["broken_v0"], "environment 'broken_v0' of broken-games 0.1"),
    ],
)
def test_check_of_invalid_arguments_is_refused(folder, capsys, arguments, message):
    assert main(["check", *arguments]) == 2
    assert message in capsys.readouterr().err
