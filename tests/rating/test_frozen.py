"""Leaderboards of whole runs, one of each kind, hold the same numbers as ever."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from rating.cli import main

FROZEN = Path(__file__).parent / "frozen"
NEWCOMER = 'policy = [{ spec = "random" }, { spec = "greedy" }, { spec = "first_legal" }]\n'
CODES = {"void": 3}


def numbers(value: Any, name: str = "") -> dict[str, float]:
    """Returns the numbers of a part of a leaderboard by their places in it; words are left out."""
    if isinstance(value, bool | int | float):
        return {name: float(value)}
    if isinstance(value, list):
        value = {
            str(item.get("policy", index) if isinstance(item, dict) else index): item
            for index, item in enumerate(value)
        }
    if not isinstance(value, dict):
        return {}
    return {place: number for key, item in value.items() for place, number in numbers(item, f"{name}/{key}").items()}


def rate(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """Returns the numbers of the leaderboards of a run or log."""
    capsys.readouterr()
    assert main(["rate", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    boards = {board["environment"]: board for board in found["leaderboards"]}
    return numbers(boards | ({"all": found["summary"]} if found["summary"] else {}))


def check(name: str, found: dict[str, float]) -> None:
    file = FROZEN / f"{name}.json"
    expected = json.loads(file.read_text(encoding="utf-8"))
    assert found.keys() == expected.keys()
    wrong = {
        key: (found[key], value) for key, value in expected.items() if not math.isclose(found[key], value, abs_tol=2e-4)
    }
    assert not wrong


@pytest.mark.slow_except(5)
@pytest.mark.parametrize("name", sorted(file.stem for file in FROZEN.glob("*.toml")))
def test_leaderboards_of_a_run_hold_the_frozen_numbers(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert main(["run", str(FROZEN / f"{name}.toml"), "--out", str(run), "--quiet"]) == CODES.get(name, 0)
    if name == "newcomers":
        text = (run / "run.toml").read_text(encoding="utf-8")
        (run / "run.toml").write_text(text[: text.index("policy = ")] + NEWCOMER, encoding="utf-8")
        assert main(["resume", str(run), "--quiet"]) == 0
    check(name, rate(run, capsys))


def test_leaderboards_of_a_log_hold_the_frozen_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    check("import", rate(FROZEN / "import.csv", capsys))
