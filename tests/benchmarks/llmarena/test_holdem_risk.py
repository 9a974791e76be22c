"""Row f4: win rates of states by action."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.records import Turn
from benchmarks.experiments.command import main
from benchmarks.experiments.runs import PlayedRun
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.holdem_risk import Decision, Options, action_of, action_table, decisions_of, win_rate
from llmarena_envs.holdem.betting import Action
from rating.errors import RunError
from rating.store.records import Match, Record

OPTIONS = {"decision": "facing_bet", "deck": "AhAd KhKd Ac As 2c 4s Jc"}
TURN = Turn(0, "player_0", "", int(Action.FOLD), ())


def record(*turns: Turn) -> Record:
    return Record(Match("holdem_v0", 7, ("a", "a"), 1, {}), None, turns, "", 1, "")


def test_win_rate_uses_hole_cards_on_the_flop() -> None:
    assert win_rate(Match("holdem_v0", 0, ("a", "a"), 5, OPTIONS), 500) > 0.99
    swapped = {**OPTIONS, "deck": "2h7d KhKd Ac As Ks 4s Jc"}
    assert 0.1 < win_rate(Match("holdem_v0", 0, ("a", "a"), 5, swapped), 2000) < 0.4


def test_the_win_rate_depends_on_the_seed_alone() -> None:
    one, other = (Match("holdem_v0", number, ("a", "b"), 5, {"decision": "open"}) for number in (0, 9))
    assert win_rate(one, 300) == win_rate(other, 300)
    assert win_rate(one, 300) != win_rate(replace(one, seed=6), 300)


def test_means_by_action() -> None:
    fold = [Decision(Action.FOLD, state, 0.2 + 0.01 * state) for state in range(11)]
    raised = [Decision(Action.ALL_IN, 20, 0.9)]
    (row,) = action_table({"bot": [*fold, *raised, Decision(None, 21, 0.5)]}, Options()).rows
    assert row[:2] == ["bot", 13]
    assert (row[2].value, row[2].n) == (pytest.approx(25.0), 11)  # type: ignore[union-attr]
    assert row[2].low < 25 < row[2].high  # type: ignore[union-attr,operator]
    assert row[3:6] == [None, None, None]
    assert row[6][:4] == (pytest.approx(90.0), None, None, 1)  # type: ignore[index]
    assert row[8] == 1


def test_fallback_is_no_decision_of_the_player() -> None:
    assert action_of(record(TURN)) is Action.FOLD
    assert action_of(record(replace(TURN, fallback="random_legal"))) is None
    assert action_of(record(replace(TURN, action=None, fallback="forfeit"))) is None
    for damaged in (
        record(),
        record(TURN, TURN),
        record(replace(TURN, action=9)),
        record(replace(TURN, action="Fold")),
    ):
        with pytest.raises(RunError, match="match 7: expected one turn with one of 5 actions"):
            action_of(damaged)


def test_every_policy_meets_the_same_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(PAPER, ["f4", "--smoke", "--workers", "1", "--out", str(tmp_path)]) == 0
    assert "| strength | 4 " in capsys.readouterr().out
    decisions = decisions_of(PlayedRun(tmp_path / "f4/states"), 50)
    assert set(decisions) == {"random", "call", "tight", "strength"}
    states = {tuple(decision.state for decision in own) for own in decisions.values()}
    assert len(states) == 1
    assert {decision.action for decision in decisions["call"]} == {Action.CHECK_CALL}
