"""The guide for adding an environment, run as it stands on its two pages."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rating.cli.new import source
from tests.docs.pages import DOCS, code_blocks, write_files
from tests.docs.test_blocks import check_run_file
from tests.support.distributions import GROUP, write_distribution

PAGES = ("adding_an_environment.md", "packaging_an_environment.md")
BLOCKS = [block for page in PAGES for block in code_blocks(page)]
OUTPUTS = {block.title.removeprefix("output of "): block.text for block in BLOCKS if block.language == "text"}
SCRIPTS = [block.title for block in BLOCKS if block.language == "python" and "/" not in block.title]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the pages, the package of the dilemma as if it were installed."""
    path = tmp_path_factory.mktemp("guide")
    for page in PAGES:
        write_files(page, path)
    project = tomllib.loads((path / "iterated-dilemma" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    write_distribution(path, project["name"], project["version"], project["entry-points"][GROUP])
    return path


def _run(command: list[str], folder: Path) -> str:
    path = os.pathsep.join(map(str, (folder, folder / "iterated-dilemma")))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert not result.stderr.startswith("warning")
    return result.stdout


def test_every_block_is_a_file_or_belongs_to_one() -> None:
    assert {block.language for block in BLOCKS} == {"python", "toml", "text", "sh"}
    titles = [block.title for block in BLOCKS if block.language != "sh"]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    assert set(OUTPUTS) <= set(SCRIPTS)
    assert set(SCRIPTS) == {"nim.py", "check.py", "test_rules.py", "play.py", "by_id.py", "talk.py"}


def test_the_run_file_with_judges_is_valid() -> None:
    (text,) = [block.text for block in BLOCKS if block.title == "debates.toml"]
    check_run_file(tomllib.loads(text))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_run_and_print_what_the_page_says(folder: Path, script: str) -> None:
    assert _run([sys.executable, script], folder) == OUTPUTS.get(script, "")


def _commands(title: str) -> list[list[str]]:
    """Returns the commands in the blocks with a title, one a line."""
    blocks = [block.text for block in BLOCKS if block.language == "sh" and block.title == title]
    return [line.split() for text in blocks for line in text.splitlines()]


@pytest.mark.slow
def test_the_commands_on_the_page_play_a_match_and_a_tournament(folder: Path) -> None:
    commands = _commands("")
    assert [program for program, *_ in commands] == ["llmarena", "llmarena"]
    match, tournament = (_run([sys.executable, "-m", "rating.cli", *arguments], folder) for _, *arguments in commands)
    assert "player_1" in match
    assert "beats_the_last" in tournament and "matches; stopped: " in tournament


def test_the_one_file_is_what_the_command_writes() -> None:
    (text,) = [block.text for block in BLOCKS if block.title == "nim.py"]
    assert text == source("nim")


@pytest.mark.slow
def test_the_commands_in_an_empty_folder_write_check_play_and_rate_a_game(tmp_path: Path) -> None:
    commands = _commands("in an empty folder")
    shown = {rest[0]: _run([sys.executable, "-m", "rating.cli", *rest], tmp_path) for _, *rest in commands}
    assert list(shown) == ["new", "check", "play", "run"]
    assert "broken" not in shown["check"] and "There are 0 sticks left." in shown["play"]
    assert "nim: " in shown["run"] and "first_legal" in shown["run"]


@pytest.mark.slow
def test_the_commands_with_the_installed_package_find_check_play_and_rate_it(folder: Path) -> None:
    (pip, package, *_), *commands = _commands("in a virtual environment")
    assert (pip, package) == ("pip", "install")
    shown = {rest[0]: _run([sys.executable, "-m", "rating.cli", *rest], folder) for _, *rest in commands}
    assert list(shown) == ["list", "check", "play", "run", "report"]
    assert (
        "dilemma_v0             Iterated dilemma" in shown["list"] and "package iterated-dilemma 0.1.0" in shown["list"]
    )
    assert "broken" not in shown["check"] and shown["check"].count("kept ") > 30
    assert "tit_for_tat" in shown["run"] and "defector" in shown["run"]
    page = (folder / "runs" / "dilemma" / "report.html").read_text(encoding="utf-8")
    assert "dilemma_v0 is of iterated-dilemma 0.1.0." in page


def test_the_code_is_clean(folder: Path) -> None:
    config = str(DOCS.parent / "pyproject.toml")
    # Whether the package stands among the imports as one's own depends on where it lies.
    ruff = [sys.executable, "-m", "ruff"]
    packages = ["rock_paper_scissors", "iterated-dilemma"]
    _run([*ruff, "check", "--config", config, "--no-cache", "--ignore", "I001", *packages], folder)
    _run([*ruff, "format", "--check", "--config", config, "--no-cache", "."], folder)
