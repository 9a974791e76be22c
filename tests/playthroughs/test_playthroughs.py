"""The golden playthroughs come out again, byte for byte."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from llmarena_envs.catalogue import CATALOGUE
from tests.playthroughs import regenerate
from tests.playthroughs.regenerate import FOLDER, golden_files

FILES = golden_files([entry.name for entry in CATALOGUE])


@pytest.mark.parametrize(("file", "make"), FILES.items(), ids=FILES)
def test_playthrough(file: str, make: Callable[[], str]) -> None:
    assert make().encode() == (FOLDER / file).read_bytes(), (
        f"{file} has changed; if that was meant: python -m tests.playthroughs.regenerate {file.split('-')[0]}"
    )


def test_the_script_writes_what_is_missing_and_removes_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tictactoe_v0-gone.txt").write_text("stale")
    (tmp_path / "connect_four_v0-default.txt").write_text("not asked for")
    monkeypatch.setattr(regenerate, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["regenerate", "tictactoe_v0"])
    regenerate.main()
    written = {path.name for path in tmp_path.glob("tictactoe_v0-*.txt")}
    assert written == {file for file in FILES if file.startswith("tictactoe_v0-")}
    assert all((tmp_path / file).read_bytes() == (FOLDER / file).read_bytes() for file in written)
    assert (tmp_path / "connect_four_v0-default.txt").read_text() == "not asked for"


def test_there_are_no_other_files() -> None:
    assert {path.name for path in FOLDER.glob("*.txt")} == set(FILES)
