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


GAMES = games(10)


def sheets(board, outcomes, scheme=Duels):
    rated = rated_results(board, outcomes, scheme_of("tictactoe_v0", *BEATEN, scheme=scheme.name))
    shown = [section.shown for section in rated_sections("game_v0", rated)] if rated else []
    return [sheet for sheet in shown if sheet.title == "Who beats whom: game_v0"]


def test_transitivity_table_of_a_cycle():
    for scheme in (Duels, Tournament):
        (sheet,) = sheets(skill_leaderboard(GAMES), GAMES, scheme)
        assert sheet.rows == [[name, "0", "33%", "1000"] for name in sorted(BEATEN)]
        assert (
            "cycle: paper beats rock (20 of 20), rock beats scissors (20 of 20), scissors beats paper (20 of 20)"
            in sheet.notes
        )


def test_transitivity_table_has_the_ratings_of_the_board():
    board = skill_leaderboard(GAMES)
    rows = tuple(replace(row, rating=row.rating._replace(value=1234.0)) for row in board.rows)
    (sheet,) = sheets(replace(board, rows=rows), GAMES, Tournament)
    assert [row[-1] for row in sheet.rows] == ["1234"] * 3


def test_transitivity_without_rated_pairs_has_no_table():
    board = skill_leaderboard(GAMES)
    rows = [replace(row, withheld=row.policy == "paper") for row in board.rows]
    assert sheets(replace(board, rows=rows), GAMES) == []
    assert sheets(replace(board, scheduled=2), GAMES) == []
    assert sheets(board, GAMES, MeanReward) == []
