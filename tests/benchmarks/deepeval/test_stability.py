"""When abilities stand still: made matches with known answers, and runs of both tasks."""

import csv

import pytest

from benchmarks.deepeval import stability
from benchmarks.deepeval.__main__ import PAPER
from benchmarks.experiments.command import main
from rating.cli import main as llmarena
from rating.store.records import FINISHED, VOID, Outcome, SeatOutcome


def match(number, *seats, status=FINISHED):
    """A match by policy, reward and agent of every seat."""
    made = tuple(SeatOutcome(policy, reward, agent=agent) for policy, reward, agent in seats)
    return Outcome("game_v0", number, number, status, made)


def test_values_follow_match_order_and_roles():
    later = match(4, ("a", 2.0, "player_1"), ("b", 3.0, "player_0"))
    void = match(3, ("a", 9.0, "player_0"), status=VOID)
    both = match(1, ("a", 1.0, "player_0"), ("a", 2.0, "player_1"))
    assert stability.own_values([later, void, both]) == {"a": [1.5, 2.0], "b": [3.0]}
    roles = match(0, ("a", 1.0, "writer_0"), ("a", 5.0, "editor_0"))
    assert stability.own_values([roles]) == {"a, editor": [5.0], "a, writer": [1.0]}


@pytest.mark.slow
def test_row_reports_when_abilities_are_stable(tmp_path, capsys):
    assert main(PAPER, ["stability", "--matches", "40", "--eps", "5", "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    (verdict,) = csv.DictReader((tmp_path / "stability-verdict.csv").read_text().splitlines())
    assert (verdict["verdict (measured)"], verdict["after matches (measured)"]) == ("stable", "20")
    assert (
        main(PAPER, ["stability", "--window", "30", "--run", str(tmp_path / "stability"), "--out", str(tmp_path / "b")])
        == 0
    )
    (verdict,) = csv.DictReader((tmp_path / "b" / "stability-verdict.csv").read_text().splitlines())
    assert (verdict["verdict (measured)"], verdict["after matches (measured)"]) == ("not yet", "")
    assert verdict["why play stopped (measured)"] == "count"


@pytest.mark.slow
def test_it_plays_until_abilities_are_known(tmp_path, capsys):
    words = ["stability", "--until-known", "--window", "4", "--half-width", "3", "--eps", "0.01", "--out"]
    assert main(PAPER, [*words, str(tmp_path / "a")]) == 0
    assert main(PAPER, [*words, str(tmp_path / "b"), "--matches", "4"]) == 0
    capsys.readouterr()
    verdicts = [
        next(csv.DictReader((tmp_path / name / "stability-verdict.csv").read_text().splitlines())) for name in "ab"
    ]
    assert [each["why play stopped (measured)"] for each in verdicts] == ["settled", "cap"]
    assert (
        8 <= int(verdicts[0]["after matches (measured)"]) <= int(verdicts[0]["matches of each player (measured)"]) < 100
    )
    assert [each["verdict (measured)"] for each in verdicts] == ["narrow", "not yet"]


@pytest.mark.slow
def test_it_takes_the_run_of_another_row(tmp_path, capsys):
    assert main(PAPER, ["t1", "--smoke", "--out", str(tmp_path)]) == 0
    assert main(PAPER, ["stability", "--run", str(tmp_path / "t1"), "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    lines = list(csv.DictReader((tmp_path / "stability-idiom_solitaire_v0.csv").read_text().splitlines()))
    assert {line["player"] for line in lines} == {"common", "fewest", "random"}
    assert {line["ability (measured) n"] for line in lines} == {"16"}
    assert (tmp_path / "stability-idiom_solitaire_v0.png").exists()


@pytest.mark.slow
def test_it_takes_a_run_of_tasks_with_judges_by_role(tmp_path, capsys):
    run_file = tmp_path / "run.toml"
    run_file.write_text(
        '[stop]\nmatches = 4\n[[environment]]\nname = "writer_editor_v0#translation"\n'
        'options = { task = "translation" }\n[environment.staff]\njudge = ["rubric"]\n'
        '[[policy]]\nspec = "echo"\n[[policy]]\nspec = "translator"\n'
    )
    assert llmarena(["run", str(run_file), "--out", str(tmp_path / "run")]) == 0
    assert main(PAPER, ["stability", "--run", str(tmp_path / "run"), "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    path = tmp_path / "out" / "stability-writer_editor_v0-translation.csv"
    lines = csv.DictReader(path.read_text().splitlines())
    assert [line["player"] for line in lines] == [
        "echo, editor",
        "echo, writer",
        "translator, editor",
        "translator, writer",
    ]
