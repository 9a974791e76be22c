import itertools
from dataclasses import replace

from rating.schemes.duels import Duels, skill_leaderboard
from rating.schemes.rewards import MeanReward
from rating.schemes.tournament import Tournament
from rating.viewer.report.rated import rated_results
from rating.viewer.report.sections import rated_sections
from tests.rating.made_outcomes import duel
from tests.rating.made_schemes import scheme_of

BEATEN = {"rock": "scissors", "scissors": "paper", "paper": "rock"}


def games(deals):
    pairs = [(deal, *pair) for deal in range(deals) for pair in itertools.permutations(BEATEN, 2)]
    return [
        duel(number, one, other, one if BEATEN[one] == other else other, seed=deal)
        for number, (deal, one, other) in enumerate(pairs)
    ]


def sheets(board, outcomes, scheme=Duels):
    rated = rated_results(board, outcomes, scheme_of("tictactoe_v0", *BEATEN, scheme=scheme.name))
    shown = [section.shown for section in rated_sections("game_v0", rated)] if rated else []
    return [sheet for sheet in shown if sheet.title == "Who beats whom: game_v0"]


def test_a_circle_is_told_and_nobody_is_ahead_of_the_mix():
    outcomes = games(10)
    for scheme in (Duels, Tournament):
        (sheet,) = sheets(skill_leaderboard(outcomes), outcomes, scheme)
        assert sheet.rows == [[name, "0", "33%", "1000"] for name in sorted(BEATEN)]
        assert (
            "cycle: paper beats rock (20 of 20), rock beats scissors (20 of 20), scissors beats paper (20 of 20)"
            in sheet.notes
        )


def test_ratings_are_those_of_the_leaderboard_whatever_they_are_fitted_with():
    outcomes = games(10)
    board = skill_leaderboard(outcomes)
    rows = tuple(replace(row, rating=row.rating._replace(value=1234.0)) for row in board.rows)
    (sheet,) = sheets(replace(board, rows=rows), outcomes, Tournament)
    assert [row[-1] for row in sheet.rows] == ["1234"] * 3


def test_policies_whose_ratings_are_withheld_are_left_out():
    outcomes = games(10)
    board = skill_leaderboard(outcomes)
    rows = [replace(row, withheld=row.policy == "paper") for row in board.rows]
    assert sheets(replace(board, rows=rows), outcomes) == []


def test_matches_behind_the_end_of_the_schedule_do_not_count():
    outcomes = games(10)
    board = replace(skill_leaderboard(outcomes), scheduled=2)
    assert sheets(board, outcomes) == []


def test_other_ways_of_comparing_have_no_such_table():
    outcomes = games(10)
    assert sheets(skill_leaderboard(outcomes), outcomes, MeanReward) == []
