"""Failures, compared with counts by hand."""

from dataclasses import replace

from rating.store.records import BUG, VOID, Outcome, SeatOutcome
from rating.viewer.report.failures import failure_shares, failure_sheet, reasons_grid
from tests.rating.made_outcomes import duel

A = SeatOutcome("a", -1.0, turns=4, failures={"illegal": 3, "empty": 1}, forfeit="illegal", reasks=2, fallbacks=1)
B = SeatOutcome("b", 1.0, turns=4)

OUTCOMES = [
    duel(0, "b", "c", "c"),
    Outcome("game_v0", 1, 1, "finished", (A, B)),
    Outcome("game_v0", 2, 2, "finished", (replace(A, forfeit="", failures={"refusal": 1}, reasks=1, fallbacks=0), B)),
    Outcome("game_v0", 3, 3, VOID, (SeatOutcome("a", 0.0), SeatOutcome("b", 0.0))),
    Outcome("game_v0", 4, 4, BUG, (SeatOutcome("d", 0.0), SeatOutcome("d", 0.0))),
]


def test_failure_sheet_counts_by_policy_and_kind():
    shown = failure_sheet(OUTCOMES, {})
    columns = "environment policy turns empty refusal illegal re-asks fallbacks forfeits void bug"
    assert shown.header == columns.split()
    assert shown.rows == [
        ["game_v0", "a", "8", "1 (12.5)", "1 (12.5)", "3 (37.5)", "3 (37.5)", "1 (12.5)", "illegal 1", "1", ""],
        ["game_v0", "b", "8", "", "", "", "", "", "", "1", ""],
        ["game_v0", "d", "0", "", "", "", "", "", "", "", "1"],
    ]
    assert failure_sheet(OUTCOMES[:1], {}) is None


def test_failure_figure_sorts_the_worst_policy_first():
    worse = Outcome("game_v0", 5, 5, "finished", (replace(B, policy="e", failures={"empty": 9}), B))
    drawn = failure_shares([*OUTCOMES, worse])
    assert drawn.parts == ["empty", "refusal", "illegal"]
    assert drawn.rows == [("e", [225.0, 0.0, 0.0]), ("a", [12.5, 12.5, 37.5])]
    assert failure_shares(OUTCOMES[:1]) is None


def test_reasons_are_counted_sorted_and_cut():
    long = "500: " + "x" * 1000
    reasons = [("g", VOID, "429: wait", 2), ("g", VOID, "429:  wait\n", 1), ("h", BUG, long, 2)]
    (grid,) = reasons_grid(reasons)
    assert grid.rows[0] == ["429: wait", "g", VOID, "3"]
    assert grid.rows[1][0].startswith("500: xxx") and len(grid.rows[1][0]) == 160
    traces = [("g", VOID, f"OSError: dead\n  File x, line {line}", 1) for line in range(2)]
    assert reasons_grid(traces)[0].rows == [["OSError: dead…", "g", VOID, "2"]]
    (many,) = reasons_grid([("g", VOID, f"reason {number}", 1) for number in range(80)])
    assert len(many.rows) == 50 and "50 of 80" in many.title
    assert reasons_grid([]) == []


def test_failure_sheet_names_suspended_policies():
    found = failure_sheet(OUTCOMES[:1], {"d": "suspended: no such key"})
    assert found.rows == [] and found.notes[-1] == "d is suspended: no such key"
