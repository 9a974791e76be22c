"""The pages on adding an environment: their files, commands and outputs."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rating.cli.new import source
from tests.docs.pages import DOCS, CodeBlock, code_blocks, write_file
from tests.docs.test_blocks import tidy
from tests.support.distributions import GROUP, write_distribution

DOOR = code_blocks("adding_an_environment.md")
PACKAGE = "packaging_an_environment.md"
EXAMPLE = DOCS / "examples" / "iterated-dilemma"
BLOCKS = code_blocks(PACKAGE)
OUTPUTS = {block.title.removeprefix("output of "): block.text for block in BLOCKS if block.language == "text"}
PARTS = [block for block in BLOCKS if block.title.startswith("part of ")]
SCRIPTS = [block.title for block in BLOCKS if block.language == "python" and block not in PARTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, with the package of the dilemma as if it were installed."""
    path = tmp_path_factory.mktemp("guide")
    for block in BLOCKS:
        if block.language in ("python", "toml") and block not in PARTS:
            write_file(block, path)
    shutil.copytree(EXAMPLE, path / EXAMPLE.name)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
    titles = [block.title for block in BLOCKS]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    assert set(OUTPUTS) == set(SCRIPTS) == {"talk.py"}
    for part in PARTS:
        assert part.text in (EXAMPLE / part.title.removeprefix("part of ")).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_run_and_print_what_the_page_says(folder: Path, script: str) -> None:
    assert _run([sys.executable, script], folder) == OUTPUTS.get(script, "")


def _commands(blocks: list[CodeBlock], title: str) -> list[list[str]]:
    """Returns the commands of the block with a title, one per line."""
    (text,) = [block.text for block in blocks if block.title == title]
    return [line.split()[1:] for line in text.splitlines()]


def test_parts_of_the_game_are_those_that_the_command_writes() -> None:
    parts = [block.text for block in DOOR if block.language == "python"]
    assert len(parts) == 3
    assert [part for part in parts if part not in source("nim")] == []


@pytest.mark.slow
def test_the_commands_in_an_empty_folder_write_check_play_and_rate_a_game(tmp_path: Path) -> None:
    commands = [*_commands(DOOR, "in an empty folder"), *_commands(DOOR, "rated")]
    shown = {words[0]: _run([sys.executable, "-m", "rating.cli", *words], tmp_path) for words in commands}
    assert list(shown) == ["new", "check", "play", "run"]
    assert "broken" not in shown["check"] and shown["check"].count("kept ") > 30
    assert "There are 0 sticks left." in shown["play"]
    (ratings,) = [block.text for block in DOOR if block.title == "output of run"]
    assert tidy(ratings) in tidy(shown["run"])


@pytest.mark.slow
def test_the_commands_with_the_installed_package_find_check_play_and_rate_it(folder: Path) -> None:
    (install, package), *commands = _commands(BLOCKS, "in a virtual environment")
    assert (install, package) == ("install", "docs/examples/iterated-dilemma")
    shown = {rest[0]: _run([sys.executable, "-m", "rating.cli", *rest], folder) for rest in commands}
    assert list(shown) == ["list", "check", "play", "run", "report"]
    assert (
        "dilemma_v0             Iterated dilemma" in shown["list"] and "package iterated-dilemma 0.1.0" in shown["list"]
    )
    assert "broken" not in shown["check"] and shown["check"].count("kept ") > 30
    assert "tit_for_tat" in shown["run"] and "defector" in shown["run"]
    page = (folder / "runs" / "dilemma" / "report.html").read_text(encoding="utf-8")
    assert "dilemma_v0 is of iterated-dilemma 0.1.0." in page
