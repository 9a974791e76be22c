"""Strategic rewards of battles among the policies, and against one opponent."""

import io
import itertools
import json
import math
import statistics
import sys
from collections import Counter

import pytest
from scipy import stats

from agents.errors import ProviderError
from agents.policy import ScriptedPolicy
from agents.records import Attempt, Turn
from benchmarks.experiments.command import main
from benchmarks.experiments.field import Case
from benchmarks.experiments.runs import PlayedRun, play_runs
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.random_battles import (
    BATTLES,
    GAME,
    READINGS,
    Options,
    Reading,
    all_rewards,
    battle_cases,
    ended,
    ending,
    match_rewards,
    match_table,
    measure,
    plan,
    rank_table,
    ranks,
    running_means,
    settled_after,
)
from llmarena_envs.core.failures import Failure
from rating.cli.app import EXIT_ERRORS
from rating.cli.process import Interruptions
from rating.errors import RunError
from rating.stats.estimates import Estimate
from rating.store.records import FINISHED, VOID, Match, Outcome, Record, SeatOutcome

FORFEITING = "benchmarks.llmarena.players:Reader"
"""Plays any column where none is listed, full ones too."""

X_WINS = [0, 0, 1, 1, 2, 2, 3]
"""Values of the first player after every move, with windows: 0 0 0 2 0 7 0 17; with maximal rows: 0 0 0 2 0 3 0 5."""


def record_of(actions, **options):
    turns = tuple(
        Turn(index, f"player_{index % 2}", "", action, (Attempt("", Failure.OK),))
        for index, action in enumerate(actions)
    )
    return Record(Match(GAME, 0, ("a", "b"), 5, options), None, turns, "", 1, "")


def case_of(rewards=(1.0, -1.0), forfeits=("", ""), status=FINISHED, number=0):
    first, second = (
        SeatOutcome(policy, reward, forfeit=forfeit, agent=agent)
        for policy, reward, forfeit, agent in zip("ab", rewards, forfeits, ("player_0", "player_1"), strict=True)
    )
    return Case(Outcome(GAME, number, number, status, (first, second)), first)


def mean(value):
    return Estimate(value, value, value, 1, 1)


def play(tmp_path, options, **changes):
    """Plays the matches of the row with changed options of the game."""
    config = plan(options)[BATTLES]
    game = config.environment[0]
    config = config.model_copy(
        update={"environment": [game.model_copy(update={"options": {**game.options, **changes}})]}
    )
    with Interruptions() as interruptions:
        assert play_runs(tmp_path, {BATTLES: config}, interruptions) == 0
    return PlayedRun(tmp_path / BATTLES)


def test_rewards_of_a_hand_made_match_under_every_reading():
    record = record_of(X_WINS)
    first, second = match_rewards(record).values()
    assert first == {
        Reading("between_turns", "windows"): 17,
        Reading("between_turns", "maximal"): 5,
        Reading("own_move", "windows"): 2 + 7 + 17,
        Reading("own_move", "maximal"): 2 + 3 + 5,
        Reading("cumulative_value", "windows"): 0 + 2 + 7 + 17,
        Reading("cumulative_value", "maximal"): 0 + 2 + 3 + 5,
    }
    assert set(second.values()) == {0, 2 + 7, 2 + 3}


def test_a_forfeit_is_no_move():
    assert match_rewards(record_of([*X_WINS[:6], None])) == match_rewards(record_of(X_WINS[:6]))


@pytest.mark.parametrize("actions", [[0] * 7, [7], ["left"], [[1]]])
def test_a_record_of_moves_that_cannot_be_made_is_damaged(actions):
    with pytest.raises(RunError, match="is damaged"):
        match_rewards(record_of(actions))


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_reported_rewards_equal_those_computed_from_moves(tmp_path, reading):
    options = Options(policy=(FORFEITING, "random"), alone=True, matches=12, workers=1)
    run = play(tmp_path, options, reward_mode=reading.mode, count=reading.counting, random_opening=3, hint=False)
    cases = battle_cases(run)
    rewards = all_rewards(run, cases)
    assert set(cases) == {"random", FORFEITING}
    for policy, own in cases.items():
        reported = [case.seat.statistics["strategic_reward"] for case in own]
        assert [each[reading] for each in rewards[policy]] == reported
        assert len(reported) == 12
    assert any(case.seat.forfeit for case in cases[FORFEITING])


def test_how_matches_end():
    assert ending(case_of()) == "won"
    assert ending(case_of((-1.0, 1.0))) == "lost"
    assert ending(case_of((0.0, 0.0))) == "drawn"
    assert ending(case_of((-1.0, 0.0), ("illegal", ""))) == "forfeited"
    assert ending(case_of((0.0, -1.0), ("", "illegal"))) == "forfeited by the opponent"


def test_void_matches_are_counted_apart(tmp_path):
    run = play(tmp_path, Options(matches=2, workers=1))
    cases = [case_of(number=0), case_of((-1.0, 1.0), number=1), case_of((0.0, 0.0), status=VOID, number=2)]
    assert ended(cases) == cases[:2]
    table = match_table({"a": cases}, {"a": [(1, 0), (2, 1)]}, run)
    cells = dict(zip([column.title for column in table.columns], table.rows[0], strict=True))
    assert cells["void matches"] == 1
    assert (cells["won, %"].value, cells["won, %"].n) == (50.0, 2)


def test_equal_means_share_a_rank_and_missing_ones_have_none():
    means = {"a": mean(1.0), "b": mean(3.0), "c": mean(1.0), "d": None, "e": mean(-2.0)}
    assert ranks(means) == {"a": 2, "b": 1, "c": 2, "d": None, "e": 4}


def test_the_table_of_ranks_names_the_readings_that_disagree():
    same = {name: dict.fromkeys(READINGS, mean(value)) for name, value in (("a", 1.0), ("b", 2.0))}
    assert "the order is the same under every reading" in rank_table(same, READINGS[0]).notes
    same["a"] = {**same["a"], Reading("own_move", "maximal"): mean(9.0)}
    table = rank_table(same, READINGS[0])
    assert table.notes[0] == "another order than under between turns, windows: own move, maximal"
    assert [row[0] for row in table.rows] == ["a", "b"]
    assert table.rows[0][1:] == [2, 2, 2, 1, 2, 2]


def test_running_means_and_when_they_settle():
    values = [3.0, 7.0, 1.0, 5.0, 4.0, 4.0]
    means, halves = running_means(list(zip(values, range(6), strict=True)))
    assert means == pytest.approx([statistics.mean(values[:n]) for n in range(1, len(values) + 1)])
    for n in range(5, len(values) + 1):
        assert halves[n - 1] == pytest.approx(stats.t.ppf(0.975, n - 1) * statistics.stdev(values[:n]) / math.sqrt(n))
    assert halves[:4] == [math.inf] * 4
    alike = running_means([(float(number), number // 2) for number in range(10)])[1]
    assert alike[:8] == [math.inf] * 8 and math.isfinite(alike[8])  # two matches on a deal
    assert running_means([]) == ([], [])
    assert settled_after([math.inf, 3.0, 1.0, 2.0, 0.5], 1.0, 1) == 3
    assert settled_after([math.inf, 3.0, 1.0, 2.0, 0.5], 1.0, 4) == 5
    assert settled_after([math.inf, 3.0], 1.0, 1) is None


def test_battles_balance_pairs_and_seats(tmp_path):
    run = play(tmp_path, Options(policy=("first_legal",), matches=6, workers=1))
    met = Counter(tuple(seat.policy for seat in outcome.seats) for outcome in run.outcomes(GAME))
    assert met == dict.fromkeys(itertools.permutations(("random", "greedy", "minimax", "first_legal"), 2), 1)


def test_opponent_plays_every_policy(tmp_path):
    run = play(tmp_path, Options(opponent="random", matches=2, workers=1))
    met = Counter(tuple(sorted(seat.policy for seat in outcome.seats)) for outcome in run.outcomes(GAME))
    assert met == {("greedy", "random"): 2, ("minimax", "random"): 2, ("random", "random"): 2}
    assert {policy: len(own) for policy, own in battle_cases(run).items()} == {"random": 2, "greedy": 2, "minimax": 2}


@pytest.mark.slow
def test_play_waits_for_the_mean(tmp_path):
    options = Options(half_width=6.0, min_matches=10, max_matches=400, workers=1, smoke=True)
    run = play(tmp_path, options)
    assert run.stop_reason(GAME) == "settled"
    result = measure({BATTLES: run}, options)
    table = next(table for table in result.tables if table.name == "matches")
    for row in table.rows:
        cells = dict(zip([column.title for column in table.columns], row, strict=True))
        assert cells["mean known to, on either side"] <= 6.0
        assert 10 <= cells["matches until the mean was known closely enough"] <= cells["won, %"].n
    assert any("every mean was known closely enough" in note for note in table.notes)


class Unreachable(ScriptedPolicy):
    """A model whose server is down."""

    def __call__(self, view):
        raise ProviderError("no answer")


@pytest.mark.slow
def test_a_player_without_a_single_match_has_no_figures(tmp_path, capsys):
    spec = f"{__name__}:Unreachable"
    flags = ["--smoke", "--workers", "1", "--policy", spec, "--json", "--out", str(tmp_path)]
    assert main(PAPER, ["f2", *flags]) == EXIT_ERRORS
    output = capsys.readouterr()
    assert "6 matches are void" in output.err
    tables = {table["name"]: table["rows"] for table in json.loads(output.out)["tables"]}
    (row,) = [row for row in tables["rewards"] if row["player"] == spec]
    assert set(row.values()) == {spec, None}
    (row,) = [row for row in tables["ranks"] if row["player"] == spec]
    assert set(row.values()) == {spec, None}
    (row,) = [row for row in tables["matches"] if row["player"] == spec]
    assert {name: value for name, value in row.items() if value is not None} == {"player": spec, "void matches": 6}


class Person(io.TextIOBase):
    """Types nonsense, then every column in order, full or not."""

    def __init__(self):
        self.typed = 0

    def readline(self, size=-1):
        self.typed += 1
        assert self.typed < 2000
        return ["what now?", *"1234567"][self.typed % 8] + "\n"


@pytest.mark.slow
def test_a_person_at_the_terminal_is_the_opponent(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Person())
    assert main(PAPER, ["f2", "--opponent", "human", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "You are playing connect four" in shown
    assert "n = 6 matches of each policy" in shown
    report = json.loads((tmp_path / "f2.json").read_text(encoding="utf-8"))
    assert report["runs"][BATTLES]["matches"] == {"finished": 3 * 6}
    endings = next(table for table in report["tables"] if table["name"] == "matches")
    for row in endings["rows"]:
        assert row["forfeited by the opponent, % (measured)"]["value"] == 0  # a person is asked again
        assert row["won, % (measured)"]["n"] == 6


@pytest.mark.slow
def test_person_who_quits_can_resume(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("4\n4\n"))
    assert main(PAPER, ["f2", "--opponent", "human", "--matches", "2", "--out", str(tmp_path)]) == 130
    assert not (tmp_path / "f2.json").exists()
    monkeypatch.setattr(sys, "stdin", Person())
    assert main(PAPER, ["f2", "--opponent", "human", "--matches", "2", "--out", str(tmp_path)]) == 0
    assert "input has ended" in capsys.readouterr().err
