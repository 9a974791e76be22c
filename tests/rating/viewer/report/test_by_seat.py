"""Results by seat, role and side."""

from dataclasses import replace

import numpy as np
import pytest

from llmarena_envs.core.declaration import HiddenRole
from rating.schemes.cooperation import cooperative_leaderboard
from rating.schemes.duels import skill_leaderboard
from rating.schemes.rewards import reward_leaderboard, self_play_leaderboard
from rating.schemes.roles import Casting, role_leaderboard
from rating.store.outcome import SeatOutcome
from rating.viewer.report.by_seat import EVERYBODY, place_tables
from tests.rating.made_outcomes import duel, match
from tests.rating.made_schemes import scheme_of

NAMES = "abc"


def biased(deals=60, share=0.7, environment="tictactoe_v0"):
    """Duels of equals of which the first seat wins a share."""
    rng = np.random.default_rng(1)
    pairs = [(deal, one, two) for deal in range(deals) for one in NAMES for two in NAMES if one != two]
    return [
        replace(duel(number, one, two, one if rng.random() < share else two, seed=deal), environment=environment)
        for number, (deal, one, two) in enumerate(pairs)
    ]


def places(environment, **keys):
    staff = {"judge": ["random"]} if environment in ("debate_v0", "writer_editor_v0") else {}
    return scheme_of(environment, *NAMES, staff=staff, **keys).places


def values(table):
    return {name: [value and value.value for value in row] for name, row in table.drawn.rows}


def test_an_advantage_of_the_first_seat_is_found_for_everybody_and_each_policy():
    outcomes = biased()
    (table,) = place_tables(skill_leaderboard(outcomes), outcomes, places("tictactoe_v0"))
    assert table.shown.title == "Seats: tictactoe_v0"
    assert table.shown.header == ["policy", "seat 1, % (n)", "seat 2, % (n)"]
    assert table.drawn.rows[0][0] == EVERYBODY and len(table.drawn.rows) == 4
    for name, (first, second) in table.drawn.rows:
        assert first.low > 0.5 > second.high, name
        assert first.n == second.n == (360 if name == EVERYBODY else 120)
    first, second = table.drawn.rows[0][1]
    assert first.low < 0.7 < first.high and first.value + second.value == pytest.approx(1)


def test_no_seat_has_an_advantage_where_none_is():
    outcomes = biased(share=0.5)
    (table,) = place_tables(skill_leaderboard(outcomes), outcomes, places("tictactoe_v0"))
    assert all(value.low < 0.5 < value.high for value in table.drawn.rows[0][1])


def test_matches_of_a_policy_with_itself_count_for_the_seats_only():
    outcomes = [match(0, ("a", 1.0), ("a", -1.0)), duel(1, "a", "b", "b")]
    outcomes = [replace(one, environment="tictactoe_v0") for one in outcomes]
    (table,) = place_tables(skill_leaderboard(outcomes), outcomes, places("tictactoe_v0"))
    assert values(table) == {EVERYBODY: [0.5, 0.5], "a": [0.0, None], "b": [None, 1.0]}
    alone = outcomes[:1]
    (table,) = place_tables(self_play_leaderboard(alone), alone, places("tictactoe_v0", scheme="self_play"))
    assert values(table) == {EVERYBODY: [1.0, 0.0], "a": [1.0, 0.0]}


def test_a_policy_may_be_called_like_the_row_of_all_policies():
    outcomes = [duel(number, *pair, EVERYBODY) for number, pair in enumerate([("b", EVERYBODY), (EVERYBODY, "b")])]
    outcomes = [replace(one, environment="tictactoe_v0") for one in outcomes]
    (table,) = place_tables(skill_leaderboard(outcomes), outcomes, places("tictactoe_v0"))
    assert [(name, [value.value for value in row], row[0].n) for name, row in table.drawn.rows] == [
        (EVERYBODY, [0.5, 0.5], 2),
        (EVERYBODY, [1.0, 1.0], 1),
        ("b", [0.0, 0.0], 1),
    ]


def test_a_common_reward_says_nothing_of_seats_by_itself():
    outcomes = [replace(match(0, ("a", 3.0), ("a", 3.0)), environment="hanabi_v0")]
    assert place_tables(self_play_leaderboard(outcomes), outcomes, places("hanabi_v0", scheme="self_play")) == []
    assert place_tables(cooperative_leaderboard(outcomes), outcomes, places("hanabi_v0")) == []
    outcomes.append(replace(match(1, ("a", 2.0), ("b", 2.0)), environment="hanabi_v0"))
    (table,) = place_tables(cooperative_leaderboard(outcomes), outcomes, places("hanabi_v0"))
    assert values(table) == {EVERYBODY: [2.0, 2.0], "a": [2.0, None], "b": [None, 2.0]}


def test_whose_results_are_withheld_and_matches_behind_the_end_count_for_nothing():
    outcomes = biased(deals=2)
    board = skill_leaderboard(outcomes)
    rows = tuple(replace(row, withheld=row.policy == "b") for row in board.rows)
    (table,) = place_tables(replace(board, rows=rows, scheduled=6), outcomes, places("tictactoe_v0"))
    assert list(values(table)) == [EVERYBODY, "a", "c"] or list(values(table)) == [EVERYBODY, "c", "a"]
    assert table.drawn.rows[0][1][0].n == 2


def test_rewards_are_shown_by_seat_at_tables_of_three():
    outcomes = [
        replace(match(number, ("a", 4.0 + number), ("b", 2.0), ("c", 0.0)), environment="bid_v0") for number in range(3)
    ]
    (table,) = place_tables(reward_leaderboard(outcomes), outcomes, places("bid_v0"))
    assert values(table)[EVERYBODY] == [5.0, 2.0, 0.0] and table.shown.header[1] == "seat 1 (n)"


def test_roles_are_told_by_names_or_by_what_was_dealt():
    def seats(*given):
        return tuple(SeatOutcome(name, reward, agent=agent, statistics=told) for name, reward, agent, told in given)

    named = [
        replace(
            match(number),
            environment="writer_editor_v0",
            seats=seats(("a", 3.0, "writer_0", {}), ("b", 1.0, "editor_0", {})),
        )
        for number in range(2)
    ]
    board = role_leaderboard(named, Casting(("writer", "editor")), results="scores")
    (table,) = place_tables(board, named, places("writer_editor_v0"))
    assert table.kind == "roles" and table.drawn.parts == ["writer", "editor"]
    assert values(table) == {EVERYBODY: [3.0, 1.0], "a": [3.0, None], "b": [None, 1.0]}

    def players(number):
        undercover = number % 3
        for index, name in enumerate("abc"):
            has_won = (index == undercover) == (number < 2)
            yield name, 1.0 if has_won else -1.0, f"player_{index}", {"role": float(index == undercover)}

    dealt = [replace(match(number), environment="undercover_v0", seats=seats(*players(number))) for number in range(4)]
    casting = Casting(hidden=HiddenRole("role", {"undercover": 1, "civilian": 0}, "seat"))
    by_seat, by_role = place_tables(role_leaderboard(dealt, casting), dealt, places("undercover_v0"))
    assert (by_seat.kind, by_role.kind) == ("seats", "roles")
    assert values(by_role)[EVERYBODY] == [0.5, 0.5] and values(by_role)["c"] == [0.0, 1 / 3]


def test_a_side_that_is_drawn_is_told_from_the_seat():
    outcomes = []
    for number in range(8):
        side = number % 2  # of the first seat; side A always wins
        players = [
            SeatOutcome(name, 1.0 if own == 0 else -1.0, agent=f"debater_{index}", statistics={"side": float(own)})
            for index, (name, own) in enumerate(zip("ab", (side, 1 - side), strict=True))
        ]
        judge = SeatOutcome("j", 0.0, agent="judge_0", rated=False, statistics={"verdict_first": 0.0})
        outcomes.append(replace(match(number), environment="debate_v0", seats=(*players, judge)))
    seats, sides = place_tables(skill_leaderboard(outcomes), outcomes, places("debate_v0"))
    assert values(seats)[EVERYBODY] == [0.5, 0.5]
    assert sides.drawn.parts == ["B", "A"] or sides.drawn.parts == ["A", "B"]
    won = dict(zip(sides.drawn.parts, values(sides)[EVERYBODY], strict=True))
    assert won == {"A": 1.0, "B": 0.0}
