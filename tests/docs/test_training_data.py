"""The page on training data: what its commands write, and its code."""

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from rating.cli import main
from tests.docs.pages import code_blocks

RUN, *BLOCKS = code_blocks("training_data.md")
FILES = {block.title: block.text for block in BLOCKS if block.title}
COMMANDS = [
    (shlex.split(command.text)[1:], json.loads(row.text))
    for command, row in itertools.pairwise(BLOCKS)
    if (command.language, row.language) == ("bash", "json")
]


def shortened(row: Any, shown: Any) -> Any:
    """Returns a row with its long texts as they are shown."""
    if isinstance(shown, dict):
        return {name: shortened(value, shown.get(name)) for name, value in row.items()}
    if isinstance(shown, list):
        return [shortened(*pair) for pair in zip(row, shown, strict=True)]
    if isinstance(shown, str) and shown.endswith("..."):
        return row[: len(shown) - 3] + "..."
    return row


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the run of the page lies."""
    where = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        assert main([*shlex.split(RUN.text)[1:], "--workers", "1", "--quiet"]) == 0
    return where


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=lambda value: value[3] if isinstance(value, list) else "")
def test_the_first_row_is_the_one_that_is_shown(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str], shown: Any
) -> None:
    monkeypatch.chdir(place)
    assert main(command) == 0
    row = json.loads(capsys.readouterr().out.split("\n")[0])
    assert list(row) == list(shown)
    assert shortened(row, shown) | {"prompt_id": ""} == shown | {"prompt_id": ""}  # the id of texts that are not shown


def test_every_format_is_shown() -> None:
    assert [command[3] for command, _ in COMMANDS] == ["sft", "preference", "grpo", "deals"]


def test_the_deals_are_played_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert main(["export", "runs/recorded", "--format", "deals", "--out", "deals.jsonl"]) == 0
    exec(compile(FILES["play_again.py"], "play_again.py", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(Path("deals.jsonl").read_text().splitlines())
    assert {float(line.split()[1]) for line in lines} <= {-1.0, 0.0, 1.0}
