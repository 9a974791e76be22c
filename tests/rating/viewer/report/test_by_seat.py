"""Results by seat, role and side."""

from dataclasses import replace

import numpy as np
import pytest

from llmarena_envs.core.declaration import Declaration, HiddenRole
from rating.schemes.cooperation import Cooperation
from rating.schemes.duels import skill_leaderboard
from rating.schemes.rewards import MeanReward, SelfPlay
from rating.schemes.roles import Roles
from rating.store.records import SeatOutcome
from rating.viewer.report.by_seat import EVERYBODY, place_tables
from tests.rating.made_outcomes import duel, match
from tests.rating.made_schemes import made_setting, scheme_of

NAMES = "abc"


def biased(deals=60, share=0.7):
    """Returns matches of equal policies where the first seat wins a share."""
    rng = np.random.default_rng(1)
    pairs = [(deal, one, two) for deal in range(deals) for one in NAMES for two in NAMES if one != two]
    return [
        duel(number, one, two, one if rng.random() < share else two, seed=deal)
        for number, (deal, one, two) in enumerate(pairs)
    ]


def tables(leaderboard, outcomes, environment="tictactoe_v0", board=None, **keys):
    """Returns the tables by seat of matches of an environment, for their leaderboard or another one."""
    outcomes = [replace(outcome, environment=environment) for outcome in outcomes]
    staff = {"judge": ["random"]} if environment in ("debate_v0", "writer_editor_v0") else {}
    groups = scheme_of(environment, *NAMES, staff=staff, **keys).seat_groups
    return place_tables(board or leaderboard(outcomes), outcomes, groups)


def seats(*given):
    return tuple(SeatOutcome(name, reward, agent=agent, statistics=known) for name, reward, agent, known in given)


def values(table):
    return {name: [value and value.value for value in row] for name, row in table.drawn.rows}


def test_seat_table_shows_an_advantage_of_the_first_seat():
    (table,) = tables(skill_leaderboard, biased())
    assert table.shown.title == "Seats: tictactoe_v0"
    assert table.shown.header == ["policy", "seat 1, % (n)", "seat 2, % (n)"]
    assert table.drawn.rows[0][0] == EVERYBODY and len(table.drawn.rows) == 4
    for name, (first, second) in table.drawn.rows:
        assert first.low > 0.5 > second.high, name
        assert first.n == second.n == (360 if name == EVERYBODY else 120)
    first, second = table.drawn.rows[0][1]
    assert first.low < 0.7 < first.high and first.value + second.value == pytest.approx(1)


def test_seat_table_of_equal_seats_shows_no_advantage():
    (table,) = tables(skill_leaderboard, biased(share=0.5))
    assert all(value.low < 0.5 < value.high for value in table.drawn.rows[0][1])


def test_seat_table_self_play_counts_for_the_seats_only():
    outcomes = [match(0, ("a", 1.0), ("a", -1.0)), duel(1, "a", "b", "b")]
    (table,) = tables(skill_leaderboard, outcomes)
    assert values(table) == {EVERYBODY: [0.5, 0.5], "a": [0.0, None], "b": [None, 1.0]}
    (table,) = tables(SelfPlay(made_setting()).board, outcomes[:1], scheme="self_play")
    assert values(table) == {EVERYBODY: [1.0, 0.0], "a": [1.0, 0.0]}


def test_seat_table_policy_named_like_the_total_row():
    outcomes = [duel(number, *pair, EVERYBODY) for number, pair in enumerate([("b", EVERYBODY), (EVERYBODY, "b")])]
    (table,) = tables(skill_leaderboard, outcomes)
    assert [(name, [value.value for value in row], row[0].n) for name, row in table.drawn.rows] == [
        (EVERYBODY, [0.5, 0.5], 2),
        (EVERYBODY, [1.0, 1.0], 1),
        ("b", [0.0, 0.0], 1),
    ]


def test_seat_table_needs_cross_play_for_common_rewards():
    outcomes = [match(0, ("a", 3.0), ("a", 3.0))]
    assert tables(SelfPlay(made_setting()).board, outcomes, "hanabi_v0", scheme="self_play") == []
    assert tables(Cooperation(made_setting()).board, outcomes, "hanabi_v0") == []
    outcomes.append(match(1, ("a", 2.0), ("b", 2.0)))
    (table,) = tables(Cooperation(made_setting()).board, outcomes, "hanabi_v0")
    assert values(table) == {EVERYBODY: [2.0, 2.0], "a": [2.0, None], "b": [None, 2.0]}


def test_seat_table_ignores_withheld_and_unscheduled():
    outcomes = biased(deals=2)
    board = skill_leaderboard(outcomes)
    rows = tuple(replace(row, withheld=row.policy == "b") for row in board.rows)
    (table,) = tables(None, outcomes, board=replace(board, rows=rows, scheduled=6))
    assert sorted(values(table)) == sorted([EVERYBODY, "a", "c"])
    assert table.drawn.rows[0][1][0].n == 2


def test_seat_table_of_three_seats_shows_rewards():
    outcomes = [match(number, ("a", 4.0 + number), ("b", 2.0), ("c", 0.0)) for number in range(3)]
    (table,) = tables(MeanReward(made_setting()).board, outcomes, "bid_v0")
    assert values(table)[EVERYBODY] == [5.0, 2.0, 0.0] and table.shown.header[1] == "seat 1 (n)"


def test_role_table_of_roles_in_agent_ids():
    written = seats(("a", 3.0, "writer_0", {}), ("b", 1.0, "editor_0", {}))
    outcomes = [replace(match(number), seats=written) for number in range(2)]
    declaration = Declaration(rated_roles=("writer", "editor"), results="scores")
    scheme = Roles(made_setting(("writer_0", "editor_0"), declaration=declaration))
    (table,) = tables(scheme.board, outcomes, "writer_editor_v0")
    assert table.kind == "roles" and table.drawn.parts == ["writer", "editor"]
    assert values(table) == {EVERYBODY: [3.0, 1.0], "a": [3.0, None], "b": [None, 1.0]}


def test_role_table_of_hidden_roles():
    def players(number):
        undercover = number % 3
        for index, name in enumerate(NAMES):
            has_won = (index == undercover) == (number < 2)
            yield name, 1.0 if has_won else -1.0, f"player_{index}", {"role": float(index == undercover)}

    outcomes = [replace(match(number), seats=seats(*players(number))) for number in range(4)]
    hidden = HiddenRole("role", {"undercover": 1, "civilian": 0}, "seat")
    scheme = Roles(made_setting(3, NAMES, declaration=Declaration(hidden_role=hidden)))
    by_seat, by_role = tables(scheme.board, outcomes, "undercover_v0")
    assert (by_seat.kind, by_role.kind) == ("seats", "roles")
    assert values(by_role)[EVERYBODY] == [0.5, 0.5] and values(by_role)["c"] == [0.0, 1 / 3]


def test_side_table_of_drawn_sides_differs_from_the_seats():
    outcomes = []
    for number in range(8):
        sides = {"a": number % 2, "b": 1 - number % 2}  # side A, 0, always wins
        players = seats(
            *(
                (name, 1.0 - 2 * side, f"debater_{index}", {"side": float(side)})
                for index, (name, side) in enumerate(sides.items())
            )
        )
        judge = SeatOutcome("j", 0.0, agent="judge_0", rated=False, statistics={"verdict_first": 0.0})
        outcomes.append(replace(match(number), seats=(*players, judge)))
    by_seat, by_side = tables(skill_leaderboard, outcomes, "debate_v0")
    assert values(by_seat)[EVERYBODY] == [0.5, 0.5]
    assert dict(zip(by_side.drawn.parts, values(by_side)[EVERYBODY], strict=True)) == {"A": 1.0, "B": 0.0}
