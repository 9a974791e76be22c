"""The guide to ratings: its example runs as it stands, and the commands it names are there."""

import importlib.util
import re

import rating
from tests.docs.pages import DOCS, code_blocks


def test_the_example_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = [block for block in code_blocks("ratings.md") if block.language == "python"]
    exec(compile(block.text, "ratings.md", "exec"), {})
    assert (tmp_path / "board.json").exists()
    assert "ann" in capsys.readouterr().out


def test_every_command_and_every_public_name_is_there():
    page = (DOCS / "ratings.md").read_text(encoding="utf-8")
    modules = set(re.findall(r"python -m ([\w.]+)", page))
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []
    assert set(re.findall(r"^\| `rating\.(\w+)` \|", page, re.MULTILINE)) == set(rating.__all__)
