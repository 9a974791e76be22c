"""The guide for adding an environment, run as it stands on the page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, code_blocks

PAGE = "adding_an_environment.md"
BLOCKS = code_blocks(PAGE)
OUTPUTS = {block.title.removeprefix("output of "): block.text for block in BLOCKS if block.language == "text"}
SCRIPTS = [block.title for block in BLOCKS if block.language == "python" and "/" not in block.title]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guide")
    for block in BLOCKS:
        if block.language in ("python", "toml"):
            file = path / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    return path


def _run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONWARNINGS": "error"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_block_is_a_file_or_belongs_to_one() -> None:
    assert {block.language for block in BLOCKS} == {"python", "toml", "text", "sh"}
    titles = [block.title for block in BLOCKS if block.language != "sh"]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    assert set(OUTPUTS) <= set(SCRIPTS)
    assert set(SCRIPTS) == {"check.py", "test_rules.py", "play.py", "by_id.py"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_run_and_print_what_the_page_says(folder: Path, script: str) -> None:
    assert _run([sys.executable, script], folder) == OUTPUTS.get(script, "")


@pytest.mark.slow
def test_the_commands_on_the_page_play_a_match_and_a_tournament(folder: Path) -> None:
    commands = [block.text.split() for block in BLOCKS if block.language == "sh"]
    assert [program for program, *_ in commands] == ["llmarena", "llmarena"]
    match, tournament = (_run([sys.executable, "-m", "rating.cli", *arguments], folder) for _, *arguments in commands)
    assert "player_1" in match
    assert "rock_paper_scissors.baselines:BeatsTheLast" in tournament and "20 matches; stopped: cap" in tournament


def test_the_code_is_clean(folder: Path) -> None:
    config = str(DOCS.parent / "pyproject.toml")
    # Whether the package stands among the imports as one's own depends on where it lies.
    ruff = [sys.executable, "-m", "ruff"]
    _run([*ruff, "check", "--config", config, "--no-cache", "--ignore", "I001", "rock_paper_scissors"], folder)
    _run([*ruff, "format", "--check", "--config", config, "--no-cache", "."], folder)


def test_the_docstring_holds_what_pages_hold(folder: Path) -> None:
    docstring = (folder / "rock_paper_scissors" / "env.py").read_text(encoding="utf-8").split('"""')[1]
    assert docstring.startswith("# Rock-paper-scissors.\n")
    for argument in ("rounds=3", 'language="en"', 'obs_type="text"', "render_mode=None"):
        assert f"* `{argument}`" in docstring


def test_the_files_and_commands_it_names_exist() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    for name in ("llmarena_envs/catalogue.py", "docs/build_pages.py"):
        assert name in text
        assert (DOCS.parent / name).is_file()
    assert "python -m tests.playthroughs.regenerate" in text
    assert (DOCS.parent / "tests" / "playthroughs" / "regenerate.py").is_file()
