import io
import json
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from rating.records.outcome import FINISHED, Outcome, SeatOutcome
from rating.report.tables import render, sheet, to_json, to_text
from rating.schemes.cooperation import cooperative_leaderboard
from rating.schemes.duels import skill_leaderboard
from rating.schemes.summary import summarise_scores
from tests.rating.made_outcomes import duel, match, void
from tests.rating.schemes.test_leaderboard import BOARD_OF, LOGS

BOARDS = {kind: BOARD_OF[kind](log, stop_reason="cap") for kind, log in LOGS.items()}

KEYS = [
    "environment",
    "scheme",
    "rows",
    "matches",
    "void_matches",
    "bug_matches",
    "undecided_matches",
    "stop_reason",
    "reached",
    "references",
    "staff",
    "max_fallbacks",
    "scheduled",
    "left_over",
    "unbalanced",
]
MORE_KEYS = {
    "duels": "connected regularised interval clusters seat_advantage seat_low seat_high position first_share permutations",
    "mean_reward": "caveats",
    "cooperation": "",
    "roles": "results roles unclassified advantage advantage_low advantage_high",
}
MORE_ROW_KEYS = {
    "duels": "rating low high rating_without_ties mu sigma spread tally first second",
    "mean_reward": "rating low high",
    "cooperation": "self_play cross_play plus_minus",
    "roles": "roles skills overall",
}


@pytest.mark.parametrize("kind", BOARDS)
def test_json_has_stable_keys_and_rounded_numbers(kind):
    text = to_json(BOARDS[kind])
    table = json.loads(text)
    assert list(table) == [*KEYS, *MORE_KEYS[kind].split()] and table["scheme"] == kind
    assert all(
        list(row) == ["policy", "reward", "effort", "withheld", "absent", *MORE_ROW_KEYS[kind].split()]
        for row in table["rows"]
    )
    assert [row["policy"] for row in table["rows"]] == [row.policy for row in BOARDS[kind].rows]

    def check(value):
        if isinstance(value, dict):
            for item in value.values():
                check(item)
        elif isinstance(value, list):
            for item in value:
                check(item)
        elif isinstance(value, float):
            assert value == round(value, 4) and str(value) != "-0.0"

    check(table)


@pytest.mark.parametrize("kind", BOARDS)
def test_text_is_aligned_and_the_rich_table_says_the_same(kind):
    shown = sheet(BOARDS[kind])
    lines = to_text(BOARDS[kind]).split("\n")
    assert lines[0] == "game_v0" and len(lines) == 2 + len(shown.rows) + len(shown.notes)
    width = max(cell_len(line) for line in lines[1 : 2 + len(shown.rows)])
    assert all(cell_len(line) <= width for line in lines[1 : 2 + len(shown.rows)])
    out = io.StringIO()
    Console(file=out, width=400, color_system=None).print(render(sheet(BOARDS[kind])))
    for cell in [cell for row in [shown.header, *shown.rows] for cell in row] + shown.notes:
        assert cell in out.getvalue()


def test_wide_and_marked_up_names_are_shown_as_they_are():
    outcomes = [duel(0, "[bold]大模型[/bold]", "b", "b"), duel(1, "b", "[bold]大模型[/bold]", None)]
    board = skill_leaderboard(outcomes)
    header, *rows = to_text(board).split("\n")[1:4]
    assert rows[1].startswith("[bold]大模型[/bold]")
    end = cell_len(header[: header.index("rating") + len("rating")])
    assert all(cell_len(row[: row.index("]  ", len("[bold]大模型[/bold]")) + 1]) == end for row in rows[1:])
    out = io.StringIO()
    Console(file=out, width=400, color_system=None).print(render(sheet(board)))
    assert "[bold]大模型[/bold]" in out.getvalue()


def test_notes_say_what_was_left_out_and_what_does_not_hold():
    board = skill_leaderboard([duel(0, "a", "b", "a"), void(1, "a", "b")], stop_reason="cap")
    text = to_text(board)
    assert "1 matches; stopped: cap" in text and "reached" not in text
    assert "reached in the end: enough" in to_text(replace(board, reached="enough"))
    assert "left out: 1 void matches, 0 with a bug" in text
    assert "of the model" in text and "distances depend on the prior" in text
    assert "clustered by deal" in to_text(BOARDS["duels"])
    assert "random votes: 0.600" in to_text(replace(BOARDS["roles"], references={"random votes": 0.6}))


def test_columns_of_effort_are_shown_where_there_is_any():
    assert "re-asks" not in to_text(BOARDS["duels"])
    seats = SeatOutcome("a", 1.0, reasks=3, failures={"illegal": 2}), SeatOutcome("b", -1.0, forfeit="illegal")
    text = to_text(skill_leaderboard([Outcome("game_v0", 0, 0, FINISHED, seats)]))
    assert "re-asks" in text and "illegal 2" in text and "forfeits" in text and "tokens in" not in text


def test_missing_cells_are_empty():
    board = cooperative_leaderboard([match(0, ("a", 2.0), ("a", 2.0)), match(1, ("b", 1.0), ("c", 1.0))])
    rows = {row[0]: row for row in sheet(board).rows}
    assert rows["a"][3] == "" and rows["b"][2] == ""
    assert rows["a"][2] == "2.00 (1)"


def test_summary_views():
    scores = {"tictactoe_v0": {"a": 30.0, "b": 20.0}, "hanabi_v0": {"a": 0.0}, "bid_v0": {"b": 0.5}}
    summary = summarise_scores(scores, {})
    lines = to_text(summary).split("\n")
    assert lines[1].split()[:4] == ["policy", "average", "tictactoe_v0", "bid_v0"]
    assert "hanabi_v0 is left out" in lines[-1]
    table = json.loads(to_json(summary))
    assert table["rows"][0]["scores"] == {"tictactoe_v0": 100.0, "bid_v0": None}
    out = io.StringIO()
    Console(file=out, width=300, color_system=None).print(render(sheet(summary)))
    assert "All environments" in out.getvalue()
    made = [summarise_scores(scores, {}) for _ in range(2)]
    assert to_json(made[0]) == to_json(made[1])


@pytest.mark.parametrize("kind", BOARDS)
@pytest.mark.parametrize("width", [60, 80, 100, 400])
def test_a_narrow_terminal_is_shown_whole_columns(kind, width):
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(render(sheet(BOARDS[kind]), width))
    shown = out.getvalue()
    assert "…" not in shown and max(cell_len(line) for line in shown.split("\n")) <= width
    board = sheet(BOARDS[kind])
    missing = [title for title in board.header if title not in shown.split("no room for")[0]]
    assert ("no room for: " in shown) == bool(missing)
    for row in board.rows:
        assert row[2] in shown
    if kind == "duels":
        assert [("shuffled" in missing), ("W/D/L" in missing)] == [width < 110, width < 60]
