"""The run file of all seven games: scripted policies come out in the order that theory gives them."""

from itertools import pairwise

import pytest

from rating.schemes.summary import summarise
from rating.store.verify import verify
from rating.viewer.report.tables import sheet
from site_builder.games import ladders_of
from tests.benchmarks.demos import demo_text, ends, play

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return play(tmp_path_factory.mktemp("llmarena"), demo_text("llmarena"))


@pytest.fixture(scope="module")
def boards(run):
    run, records, facts = run
    outcomes = [record.outcome for record in records]
    return {
        item.name: run.scheme(item.name).leaderboard(outcomes, facts[f"stopped:{item.name}"])
        for item in run.config.environment
    }


def rows(boards, environment):
    return {row.policy: row for row in boards[environment].rows}


def assert_separated(better, worse):
    assert better[0] > worse[1], f"expected {better} above {worse}"


def rated(row):
    return row.rating.low, row.rating.high


def test_all_seven_games_are_played_to_their_end(run, boards):
    _, records, _ = run
    assert len(boards) == 7
    assert {record.status for record in records} == {"finished"}
    assert all(board.stop_reason for board in boards.values())
    assert all(not row.effort.failures and not row.effort.fallbacks for board in boards.values() for row in board.rows)


@pytest.mark.parametrize("environment", ["tictactoe_v0", "connect_four_v0"])
def test_board_games(boards, environment):
    assert [row.policy for row in boards[environment].rows] == ["minimax", "greedy", "random"]
    assert_separated(rated(rows(boards, environment)["greedy"]), rated(rows(boards, environment)["random"]))


def test_search_beats_rules_of_thumb_in_connect_four(boards):
    table = rows(boards, "connect_four_v0")
    assert_separated(rated(table["minimax"]), rated(table["greedy"]))


def test_bargain(boards):
    table = boards["bargain_v0"].rows
    assert [row.policy for row in table] == ["concession", "fair", "random"]
    for better, worse in pairwise(table):
        assert_separated(rated(better), rated(worse))


def test_holdem(boards):
    table = rows(boards, "holdem_v0")
    for skilled in ("strength", "tight"):
        for unskilled in ("random", "call"):
            assert_separated(rated(table[skilled]), rated(table[unskilled]))


def test_bid(boards):
    table = boards["bid_v0"].rows
    assert [row.policy for row in table] == ["half", "random", "truthful"]
    for better, worse in pairwise(table):
        assert_separated(ends(better.reward), ends(worse.reward))


def test_hanabi(boards):
    table = rows(boards, "hanabi_v0")
    assert_separated(ends(table["convention"].values["self_play"]), ends(table["random"].values["self_play"]))
    assert table["convention"].values["self_play"].value >= 6.0


def test_undercover(boards):
    table = rows(boards, "undercover_v0")
    assert_separated(
        ends(table["similarity"].values["roles"]["undercover"]), ends(table["silent"].values["roles"]["undercover"])
    )
    assert_separated(
        ends(table["similarity"].values["roles"]["civilian"]), ends(table["random"].values["roles"]["civilian"])
    )
    assert boards["undercover_v0"].references == {"random votes": 0.6}


def test_the_table_of_all_games_is_normalised(boards):
    summary = summarise(boards.values(), ())
    for environment in summary.environments:
        assert max(row.scores[environment] for row in summary.rows if row.scores[environment] is not None) == 100
    assert not summary.left_out


def test_every_match_is_verified(run):
    run, records, _ = run
    for record in records[::20]:
        assert verify(record, run.config.turn_settings(record.match.environment)) == ""


@pytest.mark.parametrize(
    "environment", ["tictactoe_v0", "holdem_v0", "undercover_v0", "bargain_v0", "bid_v0", "hanabi_v0"]
)
def test_the_pages_of_the_games_show_these_ladders(boards, environment):
    (ladder,) = ladders_of(environment)
    assert ladder["rows"] == sheet(boards[environment]).rows, "run python docs/build_ladders.py"
