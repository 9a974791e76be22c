"""Row f5: shares of actions, with the match as the case."""

from pathlib import Path

import pytest

from benchmarks.experiments.command import main
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.hanabi_actions import action_table, own_actions, stacked_bars
from rating.errors import RunError
from rating.records.outcome import FINISHED, Outcome, SeatOutcome


def seat(plays: int, reveals: int, discards: int, score: int, **details: object) -> SeatOutcome:
    statistics = {"plays": plays, "reveals": reveals, "discards": discards, "score": score}
    return SeatOutcome("bot", float(score), statistics=statistics, **details)  # type: ignore[arg-type]


def match(number: int, *seats: SeatOutcome) -> Outcome:
    return Outcome("hanabi_v0", number, number, FINISHED, seats)


def test_shares_scores_and_risk_are_those_of_the_counts() -> None:
    first, second = seat(2, 1, 1, 3), seat(0, 3, 1, 3, fallbacks=1)
    actions = own_actions([match(number, first, second) for number in range(6)])
    shares = {kind: actions.share(kind) for kind in ("plays", "reveals", "discards")}
    assert {kind: share.value for kind, share in shares.items() if share} == {
        "plays": 0.25,
        "reveals": 0.5,
        "discards": 0.25,
    }
    risk, score = actions.risk(), actions.score()
    assert risk is not None
    assert (risk.value, risk.n, risk.clusters) == ((2 * 10 + 2 * 5) / 8, 48, 6)
    assert score is not None
    assert (score.value, score.low, score.n) == (3.0, None, 6)
    assert (actions.played_for, actions.forfeits) == (6, 0)


def test_a_match_that_ended_before_any_action_draws_no_bar() -> None:
    nothing = own_actions([match(0, seat(0, 0, 0, 0, forfeit="illegal", fallbacks=1), seat(0, 0, 0, 0))])
    assert (nothing.kinds, nothing.forfeits, nothing.played_for) == ([], 1, 0)
    (row,) = action_table({"bot": nothing}).rows
    assert row[:6] == ["bot", 1, 0, None, None, None]
    assert not stacked_bars({"bot": nothing}).axes[0].patches


def test_a_record_without_counts_is_refused() -> None:
    with pytest.raises(RunError, match="expected the statistic 'plays' of every seat, got \\[\\]"):
        own_actions([match(0, SeatOutcome("bot", 0.0), SeatOutcome("bot", 0.0))])


def test_a_smoke_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(PAPER, ["f5", "--smoke", "--workers", "1", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "| convention | 4 " in shown
    assert {"f5.md", "f5.json", "f5.csv", "f5-actions.png", "f5-actions.svg"} <= {
        path.name for path in tmp_path.iterdir()
    }
