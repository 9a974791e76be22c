"""The public names of the harness, for people with results of their own."""

import doctest
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rating
from llmarena_envs.core.options import OptionError
from rating.api import battles_of
from rating.stats.results import Battle

BATTLES = [
    Battle("ann", "bob", 1.0, "deal 1"),
    Battle("bob", "ann", 0.5, "deal 1"),
    Battle("ann", "cid", 0.25, "deal 2", 2.0),
    Battle("cid", "bob", 0.0),
]


def test_package_doctests_pass():
    assert doctest.testmod(rating).failed == 0
    assert doctest.testmod(rating).attempted >= 4


def test_package_import_loads_no_libraries():
    code = "import sys, rating; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"numpy", "scipy", "rich", "matplotlib", "llmarena_envs", "agents"} & set(loaded) == set()


def test_package_names_are_documented_and_others_refused():
    for name in ("Battle", "fit", "standings", "leaderboard"):
        assert getattr(rating, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'fits'"):
        _ = rating.fits


@pytest.mark.parametrize(
    "data",
    [
        iter(BATTLES),
        [tuple(battle) for battle in BATTLES],
        pd.DataFrame(BATTLES),
        {name: [getattr(battle, name) for battle in BATTLES] for name in Battle._fields},
    ],
)
def test_battles_of_tuples_or_tables_are_equal(data):
    assert battles_of(data) == BATTLES


def test_battles_of_short_tuples_or_missing_deals_have_no_deal():
    assert battles_of([("ann", "bob", 1)]) == [Battle("ann", "bob", 1.0)]
    for deal in ([np.nan], pd.array([pd.NA], dtype="string")):
        table = pd.DataFrame({"first": ["ann"], "second": ["bob"], "score": [1], "deal": deal})
        assert battles_of(table) == [Battle("ann", "bob", 1.0)]


@pytest.mark.parametrize("options", [{"margin": "50elo"}, {"level": "x"}, {"equal": float("nan")}])
def test_compare_invalid_numbers_are_refused(options):
    with pytest.raises(OptionError, match="expected a number"):
        rating.compare(BATTLES, "ann", "bob", **options)


def test_battles_of_published_columns_are_read():
    table = pd.DataFrame(
        {
            "model_a": ["ann", "bob", "cid"],
            "model_b": ["bob", "cid", "ann"],
            "winner": ["model_a", "tie (bothbad)", "model_b"],
            "question_id": [7, 7, 8],
        }
    )
    assert battles_of(table) == [
        Battle("ann", "bob", 1.0, "7"),
        Battle("bob", "cid", 0.5, "7"),
        Battle("cid", "ann", 0.0, "8"),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("battles.csv", r"rating.read_battles\('battles.csv'\)"),
        ([("ann", "bob")], r"battle 0: expected \(first, second, score"),
        ([("ann", "bob", 1), ("ann", "bob", "won")], "battle 1: expected numbers"),
        ([("ann", "bob", 1), (None, "bob", 1)], r"battle 1: expected \(first, second, score"),
        (None, "expected battles or a table of them, got None"),
        ({"first": ["ann", "bob"], "second": ["bob"], "score": [1, 0]}, "expected columns of one length, got 2 and 1"),
        ({"a": ["ann"], "b": ["bob"]}, "expected the columns first, second and score"),
        ({"model_a": ["ann"], "model_b": ["bob"], "winner": ["?"]}, "'\\?'"),
        ({"model_a": ["ann"], "model_b": ["bob"], "winner": [None]}, "battle 0: winner: expected model_a"),
    ],
)
def test_battles_of_invalid_data_names_the_place(data, words):
    with pytest.raises(ValueError, match=words):
        battles_of(data)


def test_leaderboard_prints_within_100_columns():
    board = rating.leaderboard([*BATTLES, ("d" * 150, "ann", 0), ("[red]\x1b[2J", "bob", 0.5)])
    ann = next(row for row in board.rows if row.policy == "ann")
    assert ann.effort.matches == 4
    assert ann.score.value == pytest.approx((1 + 0.5 + 2 * 0.25 + 1) / 5)
    shown = str(board)
    assert max(map(len, shown.splitlines())) <= 100
    assert "\x1b" not in shown
    assert "[red]" in shown
    assert [row["policy"] for row in json.loads(board.to_json())["board"]["rows"]] == [row.policy for row in board.rows]


def test_leaderboard_of_a_cycle_has_a_caveat():
    circle = [("rock", "scissors", 1), ("scissors", "paper", 1), ("paper", "rock", 1)] * 20
    assert any("cycle: paper beats rock (20 of 20)" in note for note in rating.leaderboard(circle).caveats)


def test_fit_standings_and_leaderboard_agree():
    fitted, standings, board = (name(BATTLES) for name in (rating.fit, rating.standings, rating.leaderboard))
    expected = dict(zip(fitted.policies, fitted.ratings, strict=True))
    assert {row.policy: row.rating.value for row in standings.rows} == expected
    assert {row.policy: row.rating.value for row in board.rows} == expected


@pytest.mark.parametrize("data", [[], [("ann", "ann", 1)]])
def test_leaderboard_without_a_pair_is_refused(data):
    with pytest.raises(ValueError, match="expected results of two policies, got none"):
        rating.leaderboard(data)


def test_fit_seat_advantage_only_if_seated():
    won_by_first = [("ann", "bob", 1), ("bob", "ann", 1)] * 10
    assert rating.fit(won_by_first).seat_advantage == 0
    assert rating.fit(won_by_first, seated=True).seat_advantage > 100
