"""Row convergence: when ratings stood, and how much they owe to the order of the matches."""

import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.convergence import course_table, draw_course, first_below, last_below, mu_changes
from rating.config.run_tables import StopConfig
from rating.schemes.duels import skill_leaderboard
from rating.stats.trueskill import RatingStep, rate
from tests.rating.made_outcomes import duel, void

MUS = [RatingStep(number, mu, 1.0) for number, mu in enumerate((28.0, 30.0, 29.5, 29.75))]


def test_changes_are_counted_from_the_first_rating_on():
    assert mu_changes(MUS, 2) == [None, 5.0, 1.5, 0.25]
    assert mu_changes(MUS, 5) == [None, None, None, None]
    assert mu_changes((), 2) == []


def test_rating_is_stable_once_changes_stay_below_the_limit():
    values = [None, 3.0, 0.5, 2.0, 0.5, 0.25]
    assert (first_below(values, 1.0), last_below(values, 1.0)) == (3, 5)
    assert (first_below(values, 0.1), last_below(values, 0.1)) == (None, None)
    assert (first_below([0.5, 0.5], 1.0), last_below([0.5, 0.5], 1.0)) == (1, 1)
    assert (first_below([0.5, 1.0], 1.0), last_below([0.5, 1.0], 1.0)) == (1, None)
    assert (first_below([], 1.0), last_below([], 1.0)) == (None, None)


def test_convergence_table_has_final_rating_and_stable_point():
    outcomes = [duel(number, "a", "b", "ab"[number % 2]) for number in range(60)] + [void(60, "a", "b")]
    history = rate(outcomes).history
    stop = StopConfig(sigma=2.0, window=10, eps=0.5)
    table = course_table("tictactoe_v0", skill_leaderboard(outcomes), history, stop)
    (row,) = [row for row in table.rows if row[0] == "a"]
    cells = dict(zip((column.title for column in table.columns), row, strict=True))
    sigmas = [step.sigma for step in history["a"]]
    assert cells["matches"] == 60
    assert (cells["mu"], cells["sigma"]) == history["a"][-1][1:]
    assert (
        sigmas[cells["matches until sigma fell below 2"] - 1]
        < 2.0
        <= sigmas[cells["matches until sigma fell below 2"] - 2]
    )
    change = history["a"][-1].mu - history["a"][-11].mu
    assert cells["change of mu over the last 10 matches"] == pytest.approx(abs(change))
    assert cells["Bradley-Terry rating, Elo"].n == 60
    # Alternating wins are worth nothing in any order.
    assert cells["mean of mu over 20 orders"] == pytest.approx(25.0, abs=0.5)
    assert cells["sd of mu over 20 orders"] > 0


def test_results_that_determine_no_ratings_are_marked():
    outcomes = [duel(number, "a", "b", "a") for number in range(6)]
    table = course_table("tictactoe_v0", skill_leaderboard(outcomes), rate(outcomes).history, StopConfig())
    assert any("depends on the prior" in note for note in table.notes)
    assert table.rows[0][4:8] == [None, None, None, None]


def test_ten_policies_can_be_resolved():
    names = [f"policy {index}" for index in range(10)]
    figure = draw_course("bargain", dict.fromkeys(names, MUS), StopConfig())
    lines = figure.axes[0].get_lines()
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 10
    assert [text.get_text() for text in figure.legends[0].get_texts()] == names
    assert [list(line.get_ydata()) for line in lines] == [[25.0, 28.0, 30.0, 29.5, 29.75]] * 10


@pytest.mark.slow
def test_it_takes_the_run_of_the_main_table_with_its_other_games(tmp_path):
    policies = ["random@tictactoe_v0,bargain_v0,hanabi_v0", "greedy@tictactoe_v0", "fair@bargain_v0"]
    words = ["--smoke", "--alone", "--policy", *policies, "--workers", "1"]
    assert main(PAPER, ["t1", *words, "--out", str(tmp_path)]) == 0
    assert main(PAPER, ["convergence", "--smoke", "--run", str(tmp_path / "t1"), "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "convergence.json").read_text(encoding="utf-8"))
    assert [table["name"] for table in report["tables"]] == ["stops", "tictactoe_v0", "bargain_v0"]
    assert {row["reason"] for row in report["tables"][0]["rows"]} == {"cap"}
    assert (tmp_path / "convergence-bargain_v0.svg").exists()


@pytest.mark.slow
def test_a_run_without_rated_games_is_refused(tmp_path, capsys):
    assert main(PAPER, ["t2", "--smoke", "--matches", "1", "--workers", "1", "--out", str(tmp_path)]) == 0
    assert main(PAPER, ["convergence", "--run", str(tmp_path / "t2" / "hint"), "--out", str(tmp_path)]) == 2
    assert "expected a run of games that are rated by TrueSkill" in capsys.readouterr().err
    assert main(PAPER, ["convergence", "--smoke", "--orders", "2", "--out", str(tmp_path)]) == 2
    assert "orders: expected an integer from 20 to 1000, got 2" in capsys.readouterr().err
    assert not (tmp_path / "convergence.json").exists()
