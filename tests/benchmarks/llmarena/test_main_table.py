"""Row t1: values, averages and excluded policies."""

import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.experiments.published import load_published
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.main_table import (
    ability_table,
    certainty_table,
    draw_normalised,
    normalised_table,
    raw_cell,
    raw_table,
)
from rating.schemes.duels import skill_leaderboard
from rating.schemes.rewards import MeanReward
from rating.schemes.summary import summarise_scores
from tests.rating.made_outcomes import duel, match, void
from tests.rating.made_schemes import made_setting

PUBLISHED = load_published("benchmarks.llmarena")
SCORES = {"tictactoe_v0": {"a": 30.0, "b": 15.0}, "bid_v0": {"a": 1.0, "b": 2.0, "c": -1.0}}
SUMMARY = summarise_scores(SCORES, {})


def cells(table, player):
    (row,) = [row for row in table.rows if row[0] == player]
    return {column.heading: cell for column, cell in zip(table.columns, row, strict=True)}


def test_row_and_column_averages_use_existing_cells():
    table = normalised_table(SUMMARY, PUBLISHED["T1_normalised"], {"GPT-4": "a"})
    assert cells(table, "c")["bid (measured)"] == -50.0
    assert cells(table, "c")["tic-tac-toe (measured)"] is None
    assert cells(table, "c")["average (measured)"][:4] == (-50.0, None, None, 1)
    both = cells(table, "GPT-4 = a")
    assert (both["tic-tac-toe (published)"], both["tic-tac-toe (measured)"]) == (100.0, 100.0)
    assert both["average (measured)"][0::3] == (75.0, 2)
    last = cells(table, "average")
    assert (last["tic-tac-toe (published)"], last["average (published)"]) == (80.1, 79.16)
    assert last["tic-tac-toe (measured)"][0::3] == (75.0, 2)
    assert last["bid (measured)"][0::3] == (100 / 3, 3)
    assert last["average (measured)"][0::3] == ((75 + 75 - 50) / 3, 3)
    assert last["hanabi (measured)"] is None
    assert table.rows[-1][0] == "average"


def test_abilities_are_averages_over_the_games_that_ask_for_them():
    table = ability_table(SUMMARY, PUBLISHED["T1_normalised"], {})
    assert cells(table, "a")["numerical reasoning (measured)"][0::3] == (50.0, 1)
    assert cells(table, "a")["spatial reasoning (measured)"][0::3] == (100.0, 1)
    assert cells(table, "c")["spatial reasoning (measured)"] is None
    # tic-tac-toe 82.81 and connect four 96.3
    assert cells(table, "GPT-3.5-Turbo")["spatial reasoning (published)"].value == pytest.approx(89.555)
    assert cells(table, "GPT-3.5-Turbo")["risk assessment (published)"][0::3] == (81.23, 1)


def test_raw_values_have_their_uncertainty():
    board = skill_leaderboard([duel(0, "a", "b", "a"), duel(1, "b", "a", "a"), void(2, "a", "b")])
    assert raw_cell(board.rows[0]) == f"{board.rows[0].values['mu']:.2f} ± {board.rows[0].values['sigma']:.2f} (2)"
    rewards = MeanReward(made_setting()).board(
        [match(number, ("a", paid), ("b", 0.0), seed=number) for number, paid in enumerate((1.0, 3.0, 2.0, 1.0, 3.0))]
    )
    varied, constant = map(raw_cell, rewards.rows)
    assert varied.value == 2.0
    assert varied.low < 2.0 < varied.high
    assert constant[:4] == (0.0, None, None, 5)  # five zeros do not say that there are no others


def test_policy_without_finished_matches_has_no_value():
    boards = {"tictactoe_v0": skill_leaderboard([void(0, "a", "b")])}
    (first, _) = certainty_table(boards).rows
    assert first[:10] == ["tic-tac-toe", "a", "TrueSkill mu", None, None, None, None, None, 0, 1]
    table = raw_table(boards, SUMMARY, PUBLISHED["T4_raw"], {})
    assert cells(table, "a")["tic-tac-toe (measured)"] is None
    assert cells(table, "WizardLM-13B")["tic-tac-toe (published)"] == 79.14
    assert any("79.14 for 22.97" in note for note in table.notes)


def test_the_picture_leaves_cells_without_a_score_empty():
    texts = [text.get_text() for text in draw_normalised(SUMMARY).axes[0].texts]
    assert sorted(texts) == sorted(
        ["100.0", "50.0", "75.0", "50.0", "100.0", "75.0", "-50.0", "-50.0", "(2)", "(2)", "(1)"]
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A directory with the row played for two policies of two games."""
    out = tmp_path_factory.mktemp("results")
    words = ["--alone", "--policy", "random@tictactoe_v0,hanabi_v0", "greedy@tictactoe_v0", "--workers", "1"]
    (out / "groups.csv").write_text("policy,group\nrandom,small\ngreedy,\n")
    options = ["--smoke", "--preset", "llmarena", "--groups", str(out / "groups.csv")]
    assert main(PAPER, ["t4", *words, *options, "--out", str(out / "first")]) == 0
    return out


def read(results, directory="first"):
    report = json.loads((results / directory / "t1.json").read_text(encoding="utf-8"))
    return report, {table["name"]: table["rows"] for table in report["tables"]}


def test_games_without_players_are_skipped(results):
    report, tables = read(results)
    assert report["runs"]["games"]["environments"] == ["tictactoe_v0", "hanabi_v0"]
    stops = {row["game"]: (row["reason"], row["matches (measured)"]) for row in tables["stops"]}
    assert stops == {"tic-tac-toe": ("cap", 8), "hanabi": ("count", 5)}
    assert "bad replies: preset llmarena" in report["tables"][4]["notes"]


def test_game_without_positive_best_value_is_left_out_with_note(results):
    report, tables = read(results)
    assert any("hanabi stands in no average" in note for note in report["notes"])
    (random,) = [row for row in tables["normalised"] if row["player"] == "random"]
    assert random["hanabi (measured)"] is None
    assert random["average (measured)"]["n"] == 1
    assert [row["group"] for row in tables["groups"]] == ["small"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--matches", "9"], "matches: expected no more than max_matches = 8, which holds for all games, got 9"),
        (["--field", "nobody"], "for undercover_v0, with options as in name:key=value, got 'nobody'"),
        (["--groups", "nowhere.csv"], "groups: expected a CSV file"),
    ],
)
def test_unplayable_options_are_refused_before_play(tmp_path, capsys, words, message):
    assert main(PAPER, ["t1", "--smoke", *words, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_group_file_of_another_run_is_refused_without_writing(results, capsys):
    (results / "bad.csv").write_text("policy,group\nrandom,small\n")
    words = ["--smoke", "--run", str(results / "first" / "t1"), "--groups", str(results / "bad.csv")]
    assert main(PAPER, ["t1", *words, "--out", str(results / "third")]) == 2
    assert "found none for greedy" in capsys.readouterr().err
    assert not (results / "third").exists()
