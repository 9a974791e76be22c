"""Policies among a fixed field, and policies that play themselves."""

import pytest

from llmarena_envs.core.declaration import Declaration, HiddenRole
from llmarena_envs.core.options import OptionError
from rating.config.run_file import parse_run_file
from rating.play.run import Run
from rating.schedules.batches import Stop
from rating.schemes.field import Field
from rating.schemes.rewards import SelfPlay
from rating.schemes.stopping import SettlingRule, StopRule
from rating.store.records import FINISHED, VOID, Match, Outcome, SeatOutcome
from tests.rating.made_schemes import made_setting

HIDDEN = HiddenRole("part", {"wolf": 2, "sheep": 1}, option="wolf")


def outcome_of(match, rewards, statistics=None, status=FINISHED):
    seats = tuple(
        SeatOutcome(policy, reward, statistics=statistics or {}, agent=f"player_{seat}")
        for seat, (policy, reward) in enumerate(zip(match.policies, rewards, strict=True))
    )
    return Outcome("game_v0", match.number, match.seed, status, seats)


def played(scheme):
    schedule, matches = scheme.schedule(), []
    while not isinstance(batch := schedule.next_batch(), Stop):
        matches += batch
    return matches


@pytest.mark.parametrize("opponent", ["", "outsider", "a"])
def test_field_policies_take_every_seat(opponent):
    scheme = Field(made_setting(3, opponent=opponent, matches=9, declaration=Declaration(hidden_role=HIDDEN)))
    field = opponent or "random"
    matches = played(scheme)
    assert len(matches) == 2 * 9
    for match in matches:
        seat = match.options["wolf"]
        assert {name for index, name in enumerate(match.policies) if index != seat} == {field}
    tested = [match.policies[match.options["wolf"]] for match in matches]
    assert tested.count("a") == tested.count("b") == 9


def test_field_board_counts_only_the_seat_under_test():
    scheme = Field(made_setting(2, ("a",), opponent="x", matches=4, value="points"))
    matches = played(scheme)
    outcomes = [
        outcome_of(match, [1.0 if name == "a" else -1.0 for name in match.policies], {"points": float(match.number)})
        for match in matches
    ]
    board = scheme.leaderboard(outcomes, "count")
    (row,) = board.rows
    assert (row.policy, row.values["wins"].value, row.values["wins"].n) == ("a", 1.0, 4)
    assert row.values["value"].value == row.metric == 1.5
    assert row.reward.value == 1.0
    assert board.notes == ("one seat under test, all others: x",) and board.ranked_by == "points"


def test_field_board_void_match_counts_for_the_tested():
    scheme = Field(made_setting(2, ("a",), opponent="x", matches=2))
    first, second = played(scheme)
    board = scheme.leaderboard([outcome_of(first, [1.0, -1.0]), outcome_of(second, [0.0, 0.0], status=VOID)])
    (row,) = board.rows
    assert (row.values["wins"].n, row.effort.void_matches, board.void_matches) == (1, 1, 1)


def test_field_board_opponent_in_the_pool_has_a_row():
    scheme = Field(made_setting(2, ("a", "b"), opponent="b", matches=4))
    outcomes = [outcome_of(match, [1.0, -1.0]) for match in played(scheme)]
    rows = {row.policy: row for row in scheme.leaderboard(outcomes).rows}
    assert rows["b"].values["wins"].n == rows["a"].values["wins"].n == 4
    assert (
        rows["b"].values["wins"].value == rows["a"].values["wins"].value == 0.5
    )  # the first seat wins: two matches of four


def test_field_wins_are_clustered_by_deal():
    def wins(deals, each):
        cases = [(deal, deal % 2 == 0) for deal in range(deals) for _ in range(each)]
        outcomes = [
            outcome_of(Match("game_v0", number, ("a", "x"), deal), [float(won), 0.0])
            for number, (deal, won) in enumerate(cases)
        ]
        return Field(made_setting(2, ("a",), opponent="x")).board(outcomes).rows[0].values["wins"]

    assert wins(10, 8)[3:] == (80, 10)
    assert wins(10, 8).high - wins(10, 8).low == pytest.approx(wins(10, 1).high - wins(10, 1).low, rel=0.2)
    assert wins(80, 1).high - wins(80, 1).low < 0.5 * (wins(10, 8).high - wins(10, 8).low)


def test_field_of_one_seat_is_refused():
    with pytest.raises(OptionError, match="two rated seats or more"):
        Field(made_setting(1))


def settling(half_width, values, *, per_deal=1, **changes):
    rule = SettlingRule(half_width, lambda outcome: outcome.seats[:1], "points", **changes)
    state = rule.begin(["a"])
    for number, value in enumerate(values):
        state.schedule(["a"])
        state.add(
            [Outcome("g", number, number // per_deal, FINISHED, (SeatOutcome("a", 0.0, statistics={"points": value}),))]
        )
    return state.reason()


def test_settling_rule_fires_when_the_interval_is_narrow():
    values = [0.0, 2.0] * 50  # standard error of the mean: sqrt(100/99) / 10 = 0.1005; times 1.984: 0.1994
    assert settling(0.2, values) == "settled"
    assert settling(0.199, values) == ""
    assert settling(0.198, values, min_matches=101) == ""
    assert settling(0.196, values, max_matches=100) == "cap"
    assert settling(1.0, [1.0], min_matches=1) == ""  # one value has no spread


def test_settling_rule_clusters_by_deal():
    values = [0.0, 0.0, 2.0, 2.0] * 25  # fifty deals: standard error sqrt(50/49) / sqrt(50), times 2.01: 0.287
    assert settling(0.2, values, per_deal=1) == "settled"
    assert settling(0.286, values, per_deal=2) == ""
    assert settling(0.288, values, per_deal=2) == "settled"


def test_field_limit_ignores_matches_as_the_opponent():
    scheme = Field(
        made_setting(
            2, ("a", "b", "random"), half_width=0.1, rule=StopRule(min_matches=60, max_matches=60), value="points"
        )
    )
    matches = played(scheme)  # no mean has an interval, so the limit stops it
    assert len(matches) == 3 * 60


@pytest.mark.parametrize(("asked", "number"), [(1, 1), (25, 25), (30, 30), (31, 32), (50, 50), (100, 100)])
def test_self_play_plays_the_requested_matches(asked, number):
    scheme = SelfPlay(made_setting(matches=asked))
    matches = played(scheme)
    assert len(matches) == 2 * number
    assert all(len(set(match.policies)) == 1 for match in matches)
    deals = {name: [match.seed for match in matches if match.policies[0] == name] for name in ("a", "b")}
    assert deals["a"] == deals["b"]
    assert len(set(deals["a"])) == number


@pytest.mark.parametrize(("seats", "asked", "number"), [(2, 100, 100), (5, 100, 100), (5, 50, 50), (2, 5, 6)])
def test_field_plays_the_requested_matches_in_cycles(seats, asked, number):
    matches = played(Field(made_setting(seats, ("a",), matches=asked)))
    assert len(matches) == number


def test_self_play_board_has_the_first_seat():
    scheme = SelfPlay(made_setting(policies=("a",), matches=3))
    outcomes = [
        outcome_of(match, rewards)
        for match, rewards in zip(played(scheme), ((1.0, -1.0), (0.0, 0.0), (-1.0, 0.0)), strict=True)
    ]
    (row,) = scheme.leaderboard(outcomes).rows
    assert row.values["first"] == (1, 1, 1)
    three = SelfPlay(made_setting(3, ("a",), matches=1))
    (row,) = three.leaderboard([outcome_of(played(three)[0], [1.0, 0.0, 0.0])]).rows
    assert row.values["first"] is None


RUN = """
[[environment]]
name = "{name}"
{keys}

[[policy]]
spec = "greedy"
"""


def test_run_file_scheme_replaces_the_declared_one():
    text = RUN.format(name="connect_four_v0", keys='scheme = "field"\nopponent = "random"\nvalue = "strategic_reward"\n'
                      'options = { reward_mode = "between_turns" }')  # fmt: skip
    scheme = Run(parse_run_file(text, "run.toml")).scheme("connect_four_v0")
    assert isinstance(scheme, Field)
    assert scheme.setting.value == "strategic_reward"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('scheme = "fild"', r"scheme: expected one of .*did you mean 'field'"),
        ('scheme = "field"\nvalue = "strategic_reward"', r"value: expected one of"),  # None without reward_mode
        ('scheme = "self_play"\nvalue = "x"', r"value: expected one of"),
        ('scheme = "self_play"\nopponent = "random"', r"opponent: expected none"),
        ('scheme = "field"\nopponent = "nobody"', r"expected one of .*'nobody'"),
    ],
)
def test_run_file_invalid_scheme_settings_are_refused(keys, message):
    with pytest.raises(OptionError, match=message):
        config = parse_run_file(RUN.format(name="connect_four_v0", keys=keys), "run.toml")
        config.check()
        Run(config).scheme("connect_four_v0")
