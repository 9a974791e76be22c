"""The page on training: the exports of its run, and the description of their columns."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from rating.cli import main
from tests.docs.pages import DOCS, code_blocks

PAGE = "training_reference.md"
COMMANDS = [
    shlex.split(line)[1:] for block in code_blocks(PAGE) if block.language == "bash" for line in block.text.splitlines()
]
(SHOWN,) = [json.loads(block.text) for block in code_blocks(PAGE) if block.language == "json"]


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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that holds the run of the page."""
    where = tmp_path_factory.mktemp("page")
    (run,) = [command for command in COMMANDS if command[0] == "run"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        assert main([*run, "--workers", "1", "--quiet"]) == 0
    return where


def exported(command: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Returns the first row of an export."""
    assert main(command) == 0
    row: dict[str, Any] = json.loads(capsys.readouterr().out.split("\n")[0])
    return row


def test_export_writes_the_row_of_the_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (command,) = [command for command in COMMANDS if command[0] == "export" and "--out" not in command]
    row = exported(command, capsys)
    assert list(row) == list(SHOWN)
    assert shortened(row, SHOWN) == SHOWN


@pytest.mark.parametrize("format", ["sft", "preference", "grpo", "deals"])
def test_page_describes_every_column_of_a_format(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    monkeypatch.chdir(folder)
    rows = [
        line.split(" | ") for line in (DOCS / PAGE).read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    described = " ".join(
        row[0] for row in rows if len(row) == 3 and (f"`{format}`" in row[1] or row[1].startswith("all"))
    )
    row = exported(["export", "runs/recorded", "--format", format], capsys)
    assert [column for column in row if f"`{column}`" not in described] == []
