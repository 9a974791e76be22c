from dataclasses import replace

import pytest

from rating.schemes.cooperation import Cooperation
from rating.schemes.duels import skill_leaderboard
from rating.schemes.summary import Average, summarise, summarise_scores
from rating.stats.bradley_terry import compare, standings
from rating.stats.expected_scores import CommonPolicies, win_probabilities
from tests.rating.made_outcomes import duel, match
from tests.rating.made_schemes import made_setting

SCORES = {"chess": {"a": 40.0, "b": 20.0, "c": 10.0}, "poker": {"a": 5.0, "b": 10.0, "c": None}, "go": {"b": 1.0}}
ABILITIES = {"chess": ("planning",), "go": ("planning", "patience"), "poker": ("nerve",)}


def test_summary_matches_values_by_hand():
    summary = summarise_scores(SCORES, ABILITIES)
    assert summary.environments == ("chess", "poker", "go")
    assert summary.abilities == ("nerve", "patience", "planning")
    assert [row.policy for row in summary.rows] == ["b", "a", "c"]
    b, a, c = summary.rows
    assert b.scores == {"chess": 50.0, "poker": 100.0, "go": 100.0}
    assert b.average == Average(250 / 3, 3)
    assert b.abilities == {"nerve": Average(100.0, 1), "patience": Average(100.0, 1), "planning": Average(75.0, 2)}
    assert a.scores == {"chess": 100.0, "poker": 50.0, "go": None} and a.average == Average(75.0, 2)
    assert a.abilities["patience"] is None
    assert c.average == Average(25.0, 1) and c.abilities["nerve"] is None
    assert summary.averages == {"chess": Average(175 / 3, 3), "poker": Average(75.0, 2), "go": Average(100.0, 1)}
    assert summary.left_out == {}


def test_summary_names_environments_left_out():
    summary = summarise_scores({"chess": SCORES["chess"], "hanabi": {"a": 0.0, "z": -1.0}}, ABILITIES)
    assert summary.environments == ("chess",)
    assert "above 0" in summary.left_out["hanabi"]
    assert [row.policy for row in summary.rows] == ["a", "b", "c", "z"]
    assert summary.rows[-1].average is None


def test_summary_ignores_input_order():
    turned = {name: dict(reversed(column.items())) for name, column in SCORES.items()}
    assert summarise_scores(turned, ABILITIES) == summarise_scores(SCORES, ABILITIES)


def test_summary_reproduces_the_published_normalisation():
    # LLMArena, Tables 4 and 1: tic-tac-toe, connect four and hold'em of three models.
    raw = {"GPT-4": (29.02, 27.2, 26.5), "GPT-3.5-Turbo": (24.03, 26.19, 21.53), "Qwen-72B-Chat": (26.14, 21.84, 25.14)}
    printed = {
        "GPT-4": (100.0, 100.0, 100.0),
        "GPT-3.5-Turbo": (82.81, 96.3, 81.23),
        "Qwen-72B-Chat": (90.08, 80.3, 94.88),
    }
    games = ("tictactoe_v0", "connect_four_v0", "holdem_v0")
    summary = summarise_scores(
        {game: {name: row[index] for name, row in raw.items()} for index, game in enumerate(games)}, {}
    )
    assert {row.policy for row in summary.rows} == set(printed)
    for row in summary.rows:
        assert [row.scores[game] for game in games] == pytest.approx(printed[row.policy], abs=0.03)
        assert row.average.value == pytest.approx(sum(printed[row.policy]) / 3, abs=0.03)


ENVIRONMENTS = ("connect_four_v0", "tictactoe_v0", "hanabi_v0")


def played(environment, wins, start=0):
    """Outcomes of an environment: for each pair how often the first one won and lost."""
    results = [
        (pair, winner)
        for pair, counts in wins.items()
        for winner, n in zip(pair, counts, strict=True)
        for _ in range(n)
    ]
    return [
        replace(duel(start + number, *pair[:: 1 if number % 2 else -1], winner), environment=environment)
        for number, (pair, winner) in enumerate(results)
    ]


def three_environments():
    strong = {("a", "b"): (30, 10), ("a", "c"): (36, 4), ("b", "c"): (30, 10)}
    outcomes = [
        *played(ENVIRONMENTS[0], strong | {("w", "c"): (40, 1), ("w", "a"): (39, 2)}),
        *played(ENVIRONMENTS[1], strong),
        *(replace(match(number, ("a", 3.0), ("b", 3.0)), environment=ENVIRONMENTS[2]) for number in range(4)),
    ]
    own = [[outcome for outcome in outcomes if outcome.environment == name] for name in ENVIRONMENTS]
    return outcomes, [*map(skill_leaderboard, own[:2]), Cooperation(made_setting()).board(own[2])]


def test_summary_pool_needs_all_environments():
    outcomes, boards = three_environments()
    summary = summarise(boards, outcomes)
    assert summary.pool == CommonPolicies(ENVIRONMENTS[:2], ("a", "b", "c"))
    assert summary.outside == {"hanabi_v0": "no policy has beaten another", "w": "no rating in tictactoe_v0"}
    assert [row.policy for row in summary.rows] == ["a", "b", "c", "w"]
    assert [row.rank for row in summary.rows] == [(1, 1), (2, 2), (3, 3), None]
    assert summary.rows[-1].score is None and summary.rows[-1].average.value == 100
    pairs = [compare([outcome for outcome in outcomes if outcome.environment == name]) for name in ENVIRONMENTS[:2]]
    fits = {name: standings(own).fitted for name, own in zip(ENVIRONMENTS, pairs, strict=False)}
    assert {row.policy: row.score for row in summary.rows if row.score} == win_probabilities(fits, summary.pool)


def test_summary_pool_leaves_out_withheld_and_late():
    outcomes, boards = three_environments()
    expected = summarise(boards, outcomes)
    late = played(ENVIRONMENTS[1], {("c", "a"): (200, 0)}, start=1000)
    fixed = [replace(board, scheduled=1000) for board in boards]
    assert summarise(fixed, [*outcomes, *late]) == expected
    hidden = [
        replace(board, rows=tuple(replace(row, withheld=row.policy == "a") for row in board.rows)) for board in boards
    ]
    assert summarise(hidden, outcomes).pool == CommonPolicies(ENVIRONMENTS[:2], ("b", "c"))


def test_summary_single_rating_gives_no_pool():
    outcomes, boards = three_environments()
    hidden = [
        replace(board, rows=tuple(replace(row, withheld=row.policy != "a") for row in board.rows)) for board in boards
    ]
    summary = summarise(hidden, outcomes)
    assert summary.pool == CommonPolicies((), ()) and set(summary.outside) == set(ENVIRONMENTS)
