"""Value of listing the legal moves: rates of a handful of matches, and a smoke run."""

import csv

import pytest

from benchmarks.experiments.command import main
from benchmarks.llmarena import hints
from benchmarks.llmarena.__main__ import PAPER
from rating.store.records import FINISHED, Outcome, SeatOutcome

WIN, LOSS, DRAW, ERROR = "win", "loss", "draw", "error"


def matches(*ends):
    """Self-play matches of a policy by the result of the first seat; an error is the first seat's."""
    rewards = {WIN: (1.0, -1.0), LOSS: (-1.0, 1.0), DRAW: (0.0, 0.0), ERROR: (-1.0, 0.0)}
    outcomes = []
    for number, end in enumerate(ends):
        seats = tuple(
            SeatOutcome(
                "a",
                reward,
                turns=4 - seat,
                failures={"illegal": 1} if end is ERROR and not seat else {},
                forfeit="illegal" if end is ERROR and not seat else "",
            )
            for seat, reward in enumerate(rewards[end])
        )
        outcomes.append(Outcome("tictactoe_v0", number, number, FINISHED, seats))
    return outcomes


def test_rates_of_matches_that_ended_in_every_way():
    played = matches(WIN, WIN, LOSS, DRAW, ERROR)
    events = (hints.is_first_win, hints.is_second_win, hints.is_draw, hints.is_error)
    assert [hints.share(played, event).value for event in events] == [40, 20, 20, 20]
    illegal = hints.illegal_replies(played)
    assert (illegal.value, illegal.n, illegal.clusters) == (1 / 35, 35, 5)


def test_another_players_error_is_no_win():
    (outcome,) = matches(ERROR)
    swapped = Outcome("tictactoe_v0", 0, 0, FINISHED, outcome.seats[::-1])
    assert not hints.is_first_win(swapped)
    assert hints.is_error(swapped)
    assert not hints.is_second_win(swapped)


def test_a_change_is_of_pairs_with_the_same_seed():
    with_list, without = matches(WIN, WIN, DRAW), matches(ERROR, WIN, ERROR)
    change = hints.change(with_list, without, hints.is_error)
    assert (change.value, change.n) == (pytest.approx(200 / 3), 3)
    assert hints.change(with_list, without[:1], hints.is_first_win)[::3] == (-100, 1)
    assert hints.change(with_list, [], hints.is_error) is None


@pytest.mark.slow
def test_without_list_readers_err_and_baselines_do_not(tmp_path, capsys):
    assert main(PAPER, ["t2", "--smoke", "--matches", "8", "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    lines = csv.DictReader((tmp_path / "t2-tictactoe_v0.csv").read_text().splitlines())
    by_player = {line["player"]: line for line in lines}
    assert by_player["GPT-4"]["errors without list, % (published)"] == "0"
    assert by_player["GPT-4"]["errors without list, % (measured)"] == ""
    assert float(by_player["reader"]["errors, % (measured)"]) == 0
    assert float(by_player["reader"]["errors without list, % (measured)"]) > 50
    assert float(by_player["minimax"]["errors without list, % (measured)"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_reader_finds_the_list_in_every_language(tmp_path, capsys, language):
    arguments = ["t2", "--smoke", "--alone", "--policy", "benchmarks.llmarena.players:Reader", "--language", language]
    assert main(PAPER, [*arguments, "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    *published, line = csv.DictReader((tmp_path / "t2-connect_four_v0.csv").read_text().splitlines())
    assert line["player"] == "benchmarks.llmarena.players:Reader"
    assert float(line["errors, % (measured)"]) == 0
    assert not any(other["errors, % (measured)"] for other in published)
