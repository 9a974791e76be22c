"""Battles selected by rule, and changes during the debate."""

import json
from types import SimpleNamespace

import pytest

from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.auto_arena.cases import competitiveness, find, learning, sequences, widening
from benchmarks.auto_arena.given_answers import env as given_answers
from benchmarks.auto_arena.rejudging import Battle, Verdict
from benchmarks.auto_arena.transcripts import Change, change_table, transition_table
from benchmarks.experiments.command import main
from benchmarks.experiments.replays import played
from benchmarks.experiments.runs import PlayedRun
from llmarena_envs.core.options import OptionError
from llmarena_envs.debate.actions import Passage
from llmarena_envs.testing import check_environment
from rating.cli import main as llmarena
from rating.store import environments

WORDS = "one two three four five six"


def battle(*passages, winner=0.0, given=(0.0, 0.0, 1.0), question="What?"):
    """A battle of passages ``(side, action, text)``."""
    said = tuple(
        Passage(1, side, action, text, ("opponent",) if action == "think" else ()) for side, action, text in passages
    )
    game = SimpleNamespace(passages=said, question=SimpleNamespace(text=question))
    return Battle(None, game, {}, ("a", "b"), (), Verdict(winner, given))


def test_competitiveness_uses_the_side_that_attacks_less():
    fierce = battle(
        ("A", "criticize", "x " * 9), ("A", "respond", "x"), ("B", "raise", "x"), ("B", "respond", "x " * 3)
    )
    assert competitiveness(fierce) == 0.25
    assert competitiveness(battle(("A", "think", WORDS), ("B", "respond", WORDS))) == 0


@pytest.mark.parametrize(
    ("passages", "taken_over"),
    [
        ([("A", "respond", WORDS), ("B", "respond", f"As said: {WORDS.upper()}!")], 2),
        ([("B", "respond", WORDS), ("A", "respond", WORDS), ("B", "respond", WORDS)], 2),  # A's, not B's own
        ([("A", "think", WORDS), ("B", "respond", WORDS)], 0),  # never seen
        ([("A", "respond", WORDS), ("B", "criticize", WORDS)], 0),  # a quotation in a criticism is no answer
        ([("A", "respond", "What is five and six and seven?"), ("B", "respond", "What is five and six and seven?")], 0),
    ],
)
def test_learning_counts_copied_word_sequences(passages, taken_over):
    assert learning(battle(*passages, question="What is five and six and seven?")) == taken_over


def test_sequences_of_chinese_are_characters():
    assert ("天", "空", "是", "蓝", "色") in sequences("天空是蓝色的。")
    assert sequences("too few words") == set()


def test_the_gap_widens_for_the_winner():
    before = [Verdict(1.0, (1.0, 1.0, 1.0)), Verdict(2.0, (0.0, 1.0, 2.0))]
    assert widening(battle(given=(0.0, 0.0, 1.0, -1.0)), before) == pytest.approx(1 / 3 + 1 / 2)
    assert widening(battle(winner=2.0), before) == widening(battle(), []) == 0


def test_the_first_battle_with_the_greatest_value_is_found():
    battles = [battle(question=text) for text in ("1", "3", "3", "2")]
    found = find(battles, lambda each: float(each.game.question.text))
    assert found is not None and found.battle is battles[1] and found.value == 3
    assert find(battles, lambda each: 0.0) is None


def test_changes_are_counted():
    a, b, tie = Verdict(0.0, (0.0, 1.0)), Verdict(1.0, (1.0, -1.0)), Verdict(2.0, (2.0, 2.0))
    changes = [Change(0, a, a), Change(0, b, a), Change(1, tie, a), Change(2, a, tie)]
    row, again = change_table(changes, []).rows
    assert row[:2] == ["first answers, then the whole debate", 3]
    assert [cell.value for cell in row[2:6]] == [75, 25, 25, 25]
    assert (row[6].value, row[6].n) == (pytest.approx(100 * 5 / 7), 7)  # what one of two did not judge is left out
    assert again == ["first answers, judged twice", 0, *[None] * 5]
    assert transition_table(changes).rows == [["A", 1, 0, 1], ["B", 1, 0, 0], ["tie", 1, 0, 0]]


@pytest.mark.slow
def test_given_answers_are_judged_as_first_answers_are():
    table = {
        **given_answers.EXAMPLE,
        "question": "Why?",
        "answers": ["<respond>Because.</respond>", "<respond>So.</respond>"],
    }
    env = given_answers.raw_env(battle=table, n_judges=1)
    env.reset(seed=3)
    assert env.agent_selection == "judge_0"
    text = env.observe("judge_0")["text"]
    assert text.index("> Because.") < text.index("> So.")
    env.step("[[B]]")
    assert env.infos["judge_0"]["winner"] == 1
    check_environment(given_answers.env, options={"n_judges": 2, "discussion": False}, seeds=range(2), chance=True)


@pytest.mark.parametrize(
    "battle", [None, {}, {**given_answers.EXAMPLE, "answers": ["one"]}, {**given_answers.EXAMPLE, "answers": [1, 2]}]
)
def test_invalid_battle_is_refused(battle):
    with pytest.raises(OptionError, match="battle: expected"):
        given_answers.raw_env(battle=battle)


def committees(directory):
    """Returns, for each question of a run, its judges and the debaters whose answers they judged."""
    run = PlayedRun(directory)
    (name,) = run.environments()
    found = set()
    for record in run.records(name):
        game = played(record).game
        policies = [seat.policy for seat in record.outcome.seats if not seat.rated]
        found.add((game.question.text, game.passages[0].text, tuple(policies)))
    return found


@pytest.mark.slow
def test_first_answers_are_judged_by_the_same_committee(tmp_path, monkeypatch):
    out, again = tmp_path / "out", tmp_path / "again"
    options = ["f8-f10", "--smoke", "--players", "4", "--min-judges", "2", "--repeat", "2"]
    assert main(PAPER, [*options, "--out", str(out)]) == 0
    report = json.loads((out / "f8-f10.json").read_text())
    tables = {table["name"]: table["rows"] for table in report["tables"]}
    battles = report["runs"]["tournament"]["matches"]["finished"]
    assert [row["battles (measured)"] for row in tables["changes"]] == [battles, battles]
    assert (
        sum(sum(row[key] for key in row if key != "on first answers") for row in tables["transitions"]) == 2 * battles
    )
    assert len(tables["leads"]) == 2
    for case in tables["cases"]:
        told = (out / f"f8-f10-{case['case'].replace(' ', '-')}.md").read_text()
        assert case["match"] in told and f"(`{case['A']}`): A responds" in told
    judged = {run.name: committees(run) for run in out.glob("f8-f10/*")}
    assert set.union(*(own for name, own in judged.items() if name != "tournament")) == judged["tournament"]
    assert llmarena(["replay", str(out / "f8-f10" / "first_answers_1"), "--verify"]) == 0
    monkeypatch.setattr(environments, "_modules", set())  # as in another process
    assert main(PAPER, [*options, "--out", str(again), "--run", str(out / "f8-f10")]) == 0
    for path in again.iterdir():
        assert path.read_bytes() == (out / path.name).read_bytes()


@pytest.mark.slow
def test_battles_are_found_without_judged_first_answers(tmp_path, capsys):
    assert main(PAPER, ["battle", "--smoke", "--out", str(tmp_path)]) == 0
    run = ["--run", str(tmp_path / "battle" / "battle")]
    assert main(PAPER, ["f8-f10", "--smoke", "--out", str(tmp_path / "cases"), *run]) == 0
    assert "first answers were not judged apart" in capsys.readouterr().out
    assert (tmp_path / "cases" / "f8-f10-competitive.txt").exists()
