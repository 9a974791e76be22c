import itertools
from dataclasses import replace

import pytest

from llmarena_envs.core.declaration import Declaration, HiddenRole
from rating.schedules.field import field_play
from rating.schedules.round_robin import cross_play, round_robin
from rating.schemes.cooperation import Cooperation
from rating.schemes.duels import Duels, skill_leaderboard
from rating.schemes.rewards import MeanReward, SelfPlay
from rating.schemes.roles import Roles
from rating.stats.bradley_terry import BradleyTerryOptions
from rating.stats.estimates import rate_estimate
from rating.stats.results import WinDrawLoss
from rating.store.records import BUG, FINISHED, VOID, Match, Outcome, SeatOutcome
from rating.viewer.report import tables
from tests.rating.made_outcomes import Players, disturbed, duel, match, small_contest, void
from tests.rating.made_schemes import made_setting

STRENGTHS = {"weak": -150.0, "middle": 0.0, "strong": 200.0, "other": 20.0}


def skill_log(batches=4, seed=0):
    players = Players(STRENGTHS, seat=60.0, ties=0.15, seed=seed)
    matches = round_robin(small_contest("game_v0", tuple(STRENGTHS), seed=2))
    return [outcome for _ in range(batches) for outcome in players.play(next(matches))]


def co_op_log():
    rewards = {frozenset("a"): 7.0, frozenset("b"): 3.0, frozenset("ab"): 5.0}
    outcomes = []
    for item in itertools.chain(*itertools.islice(cross_play(small_contest("game_v0", ("a", "b"), seed=2)), 5)):
        reward = rewards[frozenset(item.policies)] + item.seed % 3
        outcomes.append(played(item, [reward, reward]))
    return outcomes


def played(item: Match, rewards, roles=None) -> Outcome:
    seats = tuple(
        SeatOutcome(name, reward, statistics={} if roles is None else {"role": float(index == roles)})
        for index, (name, reward) in enumerate(zip(item.policies, rewards, strict=True))
    )
    return Outcome(item.environment, item.number, item.seed, FINISHED, seats)


def undercover_log(wins=lambda name, number: number % 3 == 0):
    outcomes = []
    batches = field_play(small_contest("game_v0", ("a", "b", "f"), 5, seed=2), opponent="f", focus_option="seat")
    for item in itertools.chain(*itertools.islice(batches, 3)):
        seat = item.options["seat"]
        won = wins(item.policies[seat], item.number)
        rewards = [1.0 if (index == seat) == won else -1.0 for index in range(5)]
        outcomes.append(played(item, rewards, seat))
    return outcomes


LOGS = {"duels": skill_log(), "mean_reward": skill_log(2), "cooperation": co_op_log(), "roles": undercover_log()}
HIDDEN = HiddenRole("role", {"undercover": 1, "civilian": 0}, "seat")
SCHEME_OF = {
    "duels": Duels(made_setting()),
    "mean_reward": MeanReward(made_setting()),
    "cooperation": Cooperation(made_setting()),
    "roles": Roles(made_setting(5, "abf", opponent="f", declaration=Declaration(hidden_role=HIDDEN))),
}
BOARD_OF = {kind: scheme.board for kind, scheme in SCHEME_OF.items()}


@pytest.mark.parametrize("kind", LOGS)
def test_board_is_the_same_in_any_order_of_outcomes(kind):
    expected = BOARD_OF[kind](LOGS[kind])
    for seed in range(3):
        mixed = disturbed(LOGS[kind], seed)
        board = BOARD_OF[kind]([o for o in mixed if o.status == FINISHED])
        assert board == expected
        assert tables.to_json(board) == tables.to_json(expected)


@pytest.mark.parametrize("kind", LOGS)
def test_board_void_matches_change_only_counts(kind):
    outcomes = LOGS[kind]
    extra = [outcome for outcome in disturbed(outcomes) if outcome.status != FINISHED]
    board, with_void = BOARD_OF[kind](outcomes), BOARD_OF[kind]([*extra, *outcomes])
    assert (with_void.void_matches, with_void.bug_matches) == (
        sum(outcome.status == VOID for outcome in extra),
        sum(outcome.status == BUG for outcome in extra),
    )
    for before, after in zip(board.rows, with_void.rows, strict=True):
        lost = [o for o in extra if before.policy in {seat.policy for seat in o.seats}]
        assert after.effort.void_matches + after.effort.bug_matches == len(lost) > 0
        assert vars(after) | {"effort": None} == vars(before) | {"effort": None}
        counts = {"void_matches": 0, "bug_matches": 0}
        assert vars(after.effort) | counts == vars(before.effort)


def forfeited(outcome, loser):
    """The same match, which the loser forfeited."""
    seats = tuple(
        replace(seat, reward=-1.0 if seat.policy == loser else 1.0, forfeit="illegal" if seat.policy == loser else "")
        for seat in outcome.seats
    )
    return replace(outcome, seats=seats)


def forfeits(every=5):
    """A log with forfeits of the strongest policy."""
    outcomes = []
    for outcome in LOGS["duels"]:
        has_strong = "strong" in {seat.policy for seat in outcome.seats}
        outcomes.append(forfeited(outcome, "strong") if has_strong and outcome.number % every == 0 else outcome)
    return outcomes


def test_skill_board_forfeits_have_rating_and_shares():
    outcomes = forfeits()
    rows = {row.policy: row for row in skill_leaderboard(outcomes).rows}
    lost = sum(any(seat.forfeit for seat in outcome.seats) for outcome in outcomes)
    strong = rows.pop("strong")
    assert strong.values["rating_without_forfeits"].value > strong.rating.value + 50
    assert strong.values["forfeited"] == strong.values["ended_by_forfeit"] == lost / strong.effort.matches > 0.1
    for row in rows.values():
        met = [outcome for outcome in outcomes if row.policy in {seat.policy for seat in outcome.seats}]
        assert row.values["forfeited"] == 0
        assert row.values["ended_by_forfeit"] == sum(
            any(seat.forfeit for seat in outcome.seats) for outcome in met
        ) / len(met)


def test_skill_board_policy_without_result_comes_last():
    outcomes = [duel(0, "b", "c", "b"), duel(1, "c", "b", None), void(2, "a", "b"), match(3, ("d", 1.0), ("d", -1.0))]
    board = skill_leaderboard(outcomes)
    assert [row.policy for row in board.rows] == ["b", "c", "a", "d"]
    for row in board.rows[2:]:
        assert (row.rating, *(row.values[name] for name in ("mu", "sigma", "spread"))) == (None,) * 4
        assert row.tally == WinDrawLoss()
    assert board.rows[2].reward is None and board.rows[3].reward == (0.0, None, None, 1, 1)
    nothing = skill_leaderboard([void(0, "a", "b")])
    assert (nothing.matches, nothing.void_matches, *map(nothing.facts.get, ("seat_advantage", "is_connected"))) == (
        0,
        1,
        None,
        False,
    )


def test_skill_board_follows_options():
    board = skill_leaderboard(LOGS["duels"], model=BradleyTerryOptions(seat_term=False))
    assert board.facts["seat_advantage"] is None


def test_effort_matches_sums_by_hand():
    seats = (
        SeatOutcome("a", -1.0, 5, {"illegal": 3, "empty": 1}, "illegal", 2, 1, 100, 10),
        SeatOutcome("b", 1.0, 4, {}, "", 0, 0, 90, 9),
    )
    again = (
        SeatOutcome("b", -1.0, 3, {"unparsable": 2}, "unparsable", 2, 0, 50, 5),
        SeatOutcome("a", 1.0, 3, {"empty": 1}, "", 1, 0, 60, 6),
    )
    board = skill_leaderboard([Outcome("g", 0, 0, FINISHED, seats), Outcome("g", 1, 1, FINISHED, again)])
    a, b = (next(row.effort for row in board.rows if row.policy == name) for name in "ab")
    assert (a.matches, a.turns, a.reasks, a.fallbacks, a.prompt_tokens, a.completion_tokens) == (2, 8, 3, 1, 160, 16)
    assert (a.forfeits, a.failures) == ({"illegal": 1}, {"empty": 2, "illegal": 3})
    assert (b.forfeits, b.failures) == ({"unparsable": 1}, {"unparsable": 2})


def test_reward_board_equal_values_have_no_interval():
    outcomes = [match(number, ("a", 1.0), ("b", -1.0), seed=number) for number in range(9)]
    for scheme in (MeanReward(made_setting()), SelfPlay(made_setting())):
        board = scheme.board(outcomes)
        assert [row.reward.low for row in board.rows] == [None, None]
        assert "[" not in tables.to_text(board)
        assert any("all deals came out alike" in note and "fewer than" not in note for note in board.caveats)
        figure = scheme.figures(board, outcomes)[0]
        assert figure.rows == [("a", 1.0, None, None), ("b", -1.0, None, None)]  # both ends are open
    alone = BOARD_OF["mean_reward"](outcomes[:1])
    assert any("fewer than 5 deals" in note and "alike" not in note for note in alone.caveats)
    assert not any("interval where" in note for note in BOARD_OF["mean_reward"](LOGS["mean_reward"]).caveats)


def test_cooperation_plus_minus_recovers_skills():
    skill = {"a": 2.0, "b": 0.0, "c": -2.0}
    outcomes = []
    for item in itertools.chain(*itertools.islice(cross_play(small_contest("game_v0", tuple(skill), seed=2)), 4)):
        alone = 20.0 if len(set(item.policies)) == 1 else 0.0  # self-play adds nothing to the others
        reward = alone + sum(skill[name] for name in item.policies) + item.seed % 5
        outcomes.append(played(item, [reward, reward]))
    board = Cooperation(made_setting()).board(outcomes)
    assert {row.policy: row.values["plus_minus"].value for row in board.rows} == pytest.approx(skill)
    assert "adds to others" in tables.to_text(board)
    assert "adds to others" not in tables.to_text(
        Cooperation(made_setting()).board(LOGS["cooperation"])
    )  # not shown for two policies


def test_roles_board_has_skills_by_role():
    outcomes = undercover_log(lambda name, number: name == "a" or (name == "b" and number % 2 == 0))
    board = BOARD_OF["roles"](outcomes)
    assert [row.policy for row in board.rows] == ["a", "b", "f"]
    skills = [row.values["skills"]["undercover"].value for row in board.rows]
    assert skills == sorted(skills, reverse=True) and len(set(skills)) == 3
    advantage = board.facts["advantage"]
    assert advantage.low < advantage.value < advantage.high
    text = tables.to_text(board)
    assert "skill as undercover" in text and "skill as civilian" not in text  # only one policy was ever a civilian
    scores = Roles(
        made_setting(5, "abf", opponent="f", declaration=Declaration(hidden_role=HIDDEN, results="scores"))
    ).board(outcomes)
    assert scores.facts["advantage"] is None and not any(row.values["skills"] for row in scores.rows)


@pytest.mark.parametrize("statistics", [{}, {"role": -1.0}])
def test_roles_board_unknown_roles_are_unclassified(statistics):
    forfeit = match(0, ("f", 0.0), ("a", -1.0), ("f", 0.0))
    unknown = match(1, ("f", 0.0), ("f", -1.0), ("f", 0.0))
    outcomes = [
        replace(outcome, seats=tuple(replace(seat, statistics=statistics) for seat in outcome.seats))
        for outcome in (forfeit, unknown)
    ]
    board = BOARD_OF["roles"](outcomes)
    rows = {row.policy: row for row in board.rows}
    assert rows["a"].values["roles"]["undercover"] == rate_estimate(0, 1)
    assert rows["f"].values["roles"]["undercover"] is None and rows["f"].values["roles"]["civilian"] is None
    assert board.facts["unclassified"] == 1
    nobody_undercover = played(Match("game_v0", 2, ("f", "a", "f"), 2), [1.0, -1.0, -1.0], roles=9)
    again = BOARD_OF["roles"]([nobody_undercover])
    assert again.facts["unclassified"] == 1 and all(row.values["roles"]["civilian"] is None for row in again.rows)


def test_skill_board_invalid_outcomes_are_refused():
    with pytest.raises(ValueError, match="got none"):
        skill_leaderboard([])
    with pytest.raises(ValueError, match="a_v0, b_v0"):
        skill_leaderboard([Outcome(name, 0, 0, FINISHED, ()) for name in ("a_v0", "b_v0")])
    with pytest.raises(ValueError, match="two rated seats"):
        skill_leaderboard([match(0, ("a", 0.0), ("b", 0.0), ("c", 0.0))])


def test_reward_board_statistic_ranks_by_its_mean():
    outcomes = [
        Outcome(
            "game_v0",
            number,
            number,
            FINISHED,
            (
                SeatOutcome("a", 1.0, statistics={"points": float(number % 2)}),
                SeatOutcome("b", -1.0, statistics={"points": 5.0 + number % 3}),
            ),
        )
        for number in range(6)
    ]
    board = MeanReward(made_setting(value="points")).board(outcomes)
    assert [(row.policy, row.metric, row.reward.value) for row in board.rows] == [("b", 6.0, -1.0), ("a", 0.5, 1.0)]
    text = tables.to_text(board)
    assert "points (n)" in text and "rank: by mean points" in text
    assert BOARD_OF["mean_reward"](outcomes).rows[0].policy == "a"
