"""The page on imports: its files, and its commands with what they print."""

import shlex
from pathlib import Path

import pytest

from rating.cli import main
from tests.docs.pages import code_blocks

BLOCKS = code_blocks("importing.md")
COMMANDS = [block.text.removeprefix("$ ").partition("\n") for block in BLOCKS if block.language == "console"]


def test_the_page_says_what_the_commands_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for block in BLOCKS:
        if block.title:
            (tmp_path / block.title).parent.mkdir(exist_ok=True)
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command, _, expected in COMMANDS:
        assert main(shlex.split(command)[1:]) == 0
        captured = capsys.readouterr()
        printed = [line.rstrip() for line in (captured.err + captured.out).splitlines()]
        if " rate " not in command:  # what leaderboards look like is no matter of this page
            assert printed == expected.splitlines(), command
    assert len([command for command, _, _ in COMMANDS if " import " in command]) == 7
