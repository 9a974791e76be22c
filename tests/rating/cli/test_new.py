"""``llmarena new``: one file that is checked, played and rated as it is written."""

import importlib
import io
import json
import sys

import pytest

from llmarena_envs.testing import check_environment
from rating.cli import main
from rating.cli.new import source

RUN = """
seed = 1
workers = 1
[stop]
matches = 8
[[environment]]
name = "{name}"
[[policy]]
spec = "random"
[[policy]]
spec = "first_legal"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    importlib.invalidate_caches()
    yield tmp_path
    for name in ("nim", "pile_of_sticks"):
        sys.modules.pop(name, None)


def test_new_file_is_short_and_has_the_names_of_the_game():
    assert len(source("nim").splitlines()) <= 90
    text = source("pile_of_sticks")
    assert "class PileOfSticks(Game[int, PileOfSticksView])" in text and '"pile_of_sticks_v0"' in text
    assert "nim" not in text.lower().replace("minim", "").replace("maxim", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nim", "pile_of_sticks"])
def test_new_file_passes_the_check_and_is_played(folder, capsys, monkeypatch, name):
    monkeypatch.setattr("sys.stdin", io.StringIO("take: 1\n" * 30))
    assert main(["new", name]) == 0
    commands = [
        line.split("llmarena ")[1].split() for line in capsys.readouterr().out.splitlines() if "llmarena" in line
    ]
    assert [command[0] for command in commands] == ["check", "play", "run"]
    for command in commands:
        assert main(command) == 0
    out = capsys.readouterr().out
    assert "broken" not in out and out.count("kept ") > 50
    assert "take: " in out and "There are 0 sticks left." in out


@pytest.mark.slow
def test_new_file_is_imported_and_checked_as_a_vector_environment(folder, monkeypatch):
    assert main(["new", "nim"]) == 0
    monkeypatch.syspath_prepend(folder)
    check_environment(importlib.import_module("nim").env, options={"obs_type": "vector", "sticks": 3}, seeds=range(2))


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("environment", ["nim", "nim.py"])
def test_new_file_is_rated_under_the_name_of_its_module(folder, capsys, environment):
    assert main(["new", "nim"]) == 0
    (folder / "run.toml").write_text(RUN.format(name=environment), encoding="utf-8")
    assert main(["run", "run.toml", "--out", "run", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["rate", "--json", "run"]) == 0
    (leaderboard,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert leaderboard["environment"] == "nim" and leaderboard["matches"] > 0
    assert main(["replay", "--verify", "--trust", "run"]) == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nim", "expected small letters, digits and _"),
        ("../nim", "expected small letters, digits and _"),
        ("json", "'json' is the name of an installed module"),
        ("tictactoe_v0", "'tictactoe_v0' is the name of an installed module"),
        ("taken", "taken.py already exists"),
    ],
)
def test_new_refuses_a_name(folder, capsys, name, message):
    (folder / "taken.py").write_text("mine")
    assert main(["new", name]) == 2
    assert message in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("taken.py", "mine")]


def test_mistyped_text_is_a_message_with_the_file(folder, capsys):
    assert main(["new", "nim"]) == 0
    file = folder / "nim.py"
    file.write_text(file.read_text().replace('"observation": "There', '"obsrvation": "There'))
    assert main(["check", "nim.py"]) == 2
    assert capsys.readouterr().err == "llmarena: nim.py: no text 'observation'; the nearest name is 'obsrvation'\n"


@pytest.mark.parametrize("file", ["other.py", "/nowhere/other.py"])
def test_missing_file_is_a_message_with_its_name(folder, capsys, file):
    assert main(["check", file]) == 2
    assert f"environment '{file}': expected a Python file in the current directory" in capsys.readouterr().err
