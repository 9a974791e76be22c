"""The page on rating methods: its scheme plays a run, by registration and by entry point."""

import subprocess
import sys
from pathlib import Path

import pytest

from llmarena_envs.core.options import OptionError
from rating.schemes.registry import GROUP, SCHEMES, find_scheme, register
from rating.schemes.rewards import MeanReward
from tests.docs.pages import ROOT, fenced_blocks, write_file

PAGE = ROOT / "docs/adding_a_rating_method.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the page."""
    for block in fenced_blocks(PAGE.read_text(encoding="utf-8")):
        write_file(block, tmp_path)
    return tmp_path


def install(folder: Path, value: str = "median:MedianReward", name: str = "median_reward") -> None:
    """Installs a distribution with an entry point of the page."""
    metadata = folder / "median-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: median\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {value}\n", encoding="utf-8")


def run(folder: Path, *words: str) -> str:
    path = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_page_script_plays_and_rates_a_run(folder: Path) -> None:
    table = run(folder, "compare.py")
    assert "median" in table and "truthful" in table and "count" in table


@pytest.mark.slow
def test_page_entry_point_serves_the_command_line(folder: Path) -> None:
    install(folder)
    run(folder, "-m", "rating.cli", "run", "run.toml", "--out", "runs/median", "--quiet")
    assert "median" in run(folder, "-m", "rating.cli", "rate", "runs/median")


def test_register_name_of_another_scheme_is_refused() -> None:
    with pytest.raises(OptionError, match="expected a new name"):
        register(type("Other", (MeanReward,), {"name": "duels"}))
    assert register(MeanReward) is SCHEMES["mean_reward"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nowhere:Median", "importing nowhere:Median failed"),
        ("json:dumps", "expected a subclass of Scheme with this name"),
    ],
)
def test_scheme_of_a_broken_entry_point_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, value: str, message: str
) -> None:
    install(folder, value, "broken")
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(OptionError, match=message):
        find_scheme("bid_v0", "broken")
    assert "broken" not in SCHEMES
