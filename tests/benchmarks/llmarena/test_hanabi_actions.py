"""Row f5: shares of actions, with the match as the case."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.records import Turn
from benchmarks.experiments.command import main
from benchmarks.experiments.runs import PlayedRun
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.hanabi_actions import Actions, action_table, actions_by_policy, stacked_bars
from rating.errors import RunError
from rating.store.records import FINISHED, Match, Outcome, Record, SeatOutcome

NAMES = ["discard", "play", "reveal"]
DISCARD, PLAY, REVEAL = range(3)


def played(number: int, actions: list[int], *, fallbacks: int = 0, score: float = 3.0) -> Record:
    """A match whose last ``fallbacks`` turns were fallbacks."""
    turns = [Turn(index, f"player_{index % 2}", "", action, ()) for index, action in enumerate(actions)]
    own = len(turns) - fallbacks
    turns[own:] = [replace(turn, fallback="random_legal") for turn in turns[own:]]
    seats = (SeatOutcome("bot", score, statistics={"score": score}),) * 2
    outcome = Outcome("hanabi_v0", number, number, FINISHED, seats)
    return Record(Match("hanabi_v0", number, ("bot", "bot"), number, {}), outcome, tuple(turns), "", 1, "")


def test_shares_scores_and_risk_follow_the_players_choices() -> None:
    actions = Actions()
    for number in range(6):
        actions.add(
            played(number, [PLAY, PLAY, REVEAL, REVEAL, REVEAL, REVEAL, DISCARD, DISCARD, PLAY], fallbacks=1), NAMES
        )
    shares = {name: share.value for name in NAMES if (share := actions.share(name))}
    assert shares == {"play": 0.25, "reveal": 0.5, "discard": 0.25}
    risk, score = actions.risk(), actions.score()
    assert risk is not None
    assert (risk.value, risk.n, risk.clusters) == ((2 * 10 + 2 * 5) / 8, 48, 6)
    assert score is not None
    assert (score.value, score.low, score.n) == (3.0, None, 6)
    assert actions.played_for == 6


def test_player_without_choices_has_no_shares_and_no_bar() -> None:
    nothing = Actions()
    nothing.add(played(0, [PLAY], fallbacks=1), NAMES)
    (row,) = action_table({"bot": nothing}).rows
    assert row[:6] == ["bot", 1, 0, None, None, None]
    assert row[-1] == 1
    assert not stacked_bars({"bot": nothing}).axes[0].patches


def test_invalid_hanabi_records_are_refused() -> None:
    with pytest.raises(RunError, match="match 4: expected actions below 3, got 'Play'"):
        Actions().add(played(4, ["Play"]), NAMES)  # type: ignore[list-item]
    with pytest.raises(RunError, match="match 4: expected actions below 3, got 3"):
        Actions().add(played(4, [3]), NAMES)
    with pytest.raises(RunError, match="match 4: expected a finished match"):
        Actions().add(replace(played(4, []), outcome=None), NAMES)
    bare = Outcome("hanabi_v0", 4, 4, FINISHED, (SeatOutcome("bot", 0.0),) * 2)
    with pytest.raises(RunError, match=r"expected the statistic 'score' of every seat, got \[\]"):
        Actions().add(replace(played(4, []), outcome=bare), NAMES)


def test_the_actions_are_those_that_the_game_counts(tmp_path: Path) -> None:
    assert main(PAPER, ["f5", "--smoke", "--workers", "1", "--out", str(tmp_path)]) == 0
    run = PlayedRun(tmp_path / "f5/hanabi")
    actions = actions_by_policy(run)
    assert set(actions) == {"random", "convention"}
    for policy, own in actions.items():
        seats = [seat for outcome in run.outcomes("hanabi_v0") for seat in outcome.seats if seat.policy == policy]
        for name in ("play", "reveal", "discard"):
            assert own.names.count(name) == sum(seat.statistics[f"{name}s"] for seat in seats)
