"""``llmarena compare --isomorph``: the gap of each policy between both names of a game."""

import json
from pathlib import Path

import pytest

from rating.cli import main
from rating.schedules.batches import deal_seed
from tests.docs.pages import code_blocks
from tests.rating.runs import play_run, run_file

NAMES = ("tictactoe_v0", "tictactoe_v0?isomorph=7#other")


def compare(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main(["compare", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def played(directory: Path, *policies: str, environments=NAMES, matches: int = 40) -> Path:
    stop = f"min_matches = {matches}\nmax_matches = {matches}"
    text = run_file(
        *(f"name = {name!r}" for name in environments), policies=policies, stop=stop, more='schedule = "round_robin"'
    )
    return play_run(directory, text)


@pytest.fixture
def memoriser(tmp_path, monkeypatch):
    (block,) = [block for block in code_blocks("isomorphs.md") if block.title == "recall.py"]
    (tmp_path / "recall.py").write_text(block.text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return "recall:Memoriser"


@pytest.mark.slow
def test_compare_isomorph_finds_recall_in_100_pairs(memoriser, tmp_path, capsys):
    directory = played(tmp_path / "run", memoriser, "greedy", matches=80)
    (gap,) = json.loads(compare(capsys, "--isomorph", directory, "--against", "greedy", "--json"))
    assert gap["policy"] == memoriser
    assert gap["pairs"] <= 100
    assert gap["difference"]["high"] < 0
    assert gap["renamed"] - gap["plain"] == pytest.approx(gap["difference"]["value"])
    printed = compare(capsys, "--isomorph", directory)
    assert "tictactoe_v0?isomorph=7#other minus tictactoe_v0" in printed
    assert f"{memoriser}: mean difference -0." in printed


def test_compare_isomorph_of_scripted_policies_is_zero(tmp_path, capsys):
    names = (*NAMES, "bid_v0", "bid_v0?isomorph=2")
    directory = played(tmp_path / "run", "random", "first_legal", environments=names, matches=8)
    gaps = json.loads(compare(capsys, directory, "--isomorph", "--json"))
    assert [(gap["environment"], gap["policy"]) for gap in gaps] == [
        (name, policy) for name in names[1::2] for policy in ("first_legal", "random")
    ]
    for gap in gaps:
        assert gap["difference"]["value"] == 0
        assert gap["plain"] == gap["renamed"]
        assert gap["unpaired"] == 0 < gap["pairs"]
    assert len({gap["plain"] for gap in gaps}) > 1


def test_compare_isomorph_without_both_names_is_refused(tmp_path, capsys):
    directory = played(tmp_path / "run", "random", "first_legal", environments=NAMES[1:], matches=2)
    assert "expected a run with a game in its own names and in others" in compare(
        capsys, "--isomorph", directory, code=2
    )
    assert "expected no policies, got random" in compare(capsys, "--isomorph", directory, "random", code=2)


def test_deal_seed_ignores_isomorph_and_label():
    for pattern in ("{}", "{}/order", "seats/{}"):
        seeds = {
            deal_seed(1, pattern.format(name), 3) for name in ("game_v0", "game_v0?isomorph=7", "game_v0?isomorph=7#x")
        }
        assert seeds == {deal_seed(1, pattern.format("game_v0"), 3)}
    assert deal_seed(1, "openspiel/a?isomorph=1", 0) != deal_seed(1, "openspiel/b?isomorph=1", 0)
