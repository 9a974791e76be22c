"""The golden playthroughs come out again, byte for byte."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from llmarena_envs.catalogue import CATALOGUE
from tests.playthroughs import regenerate
from tests.playthroughs.regenerate import FOLDER, golden_files, read_sections

FILES = golden_files([entry.name for entry in CATALOGUE])
SECTIONS = [(file, title, make) for file, sections in FILES.items() for title, make in sections.items()]


@pytest.mark.parametrize(("file", "title", "make"), SECTIONS, ids=[f"{file}-{title}" for file, title, _ in SECTIONS])
def test_playthrough(file: str, title: str, make: Callable[[], str]) -> None:
    assert make().encode() == read_sections(file)[title].encode(), (
        f"{title} in {file} has changed; if that was meant: python -m tests.playthroughs.regenerate {file.split('-')[0]}"
    )


@pytest.mark.parametrize("file", FILES)
def test_file_has_exactly_these_sections(file: str) -> None:
    text = "".join(f"######## {title}\n{section}" for title, section in read_sections(file).items())
    assert text.encode() == (FOLDER / file).read_bytes()
    assert list(read_sections(file)) == list(FILES[file])


def test_regenerate_writes_missing_and_removes_stale_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tictactoe_v0-gone.txt").write_text("stale")
    (tmp_path / "connect_four_v0-en.txt").write_text("not asked for")
    monkeypatch.setattr(regenerate, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["regenerate", "tictactoe_v0"])
    regenerate.main()
    written = {path.name for path in tmp_path.glob("tictactoe_v0-*.txt")}
    assert written == {file for file in FILES if file.startswith("tictactoe_v0-")}
    assert all((tmp_path / file).read_bytes() == (FOLDER / file).read_bytes() for file in written)
    assert (tmp_path / "connect_four_v0-en.txt").read_text() == "not asked for"


def test_there_are_no_other_files() -> None:
    assert {path.name for path in FOLDER.glob("*.txt")} == set(FILES)
