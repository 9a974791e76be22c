import io
import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from rating.schemes.cooperation import Cooperation
from rating.schemes.duels import skill_leaderboard
from rating.schemes.formatting import rating
from rating.schemes.summary import summarise_scores
from rating.store.records import FINISHED, Outcome, SeatOutcome
from rating.viewer.report.names import GAP
from rating.viewer.report.tables import WIDTH, render, sheet, to_json, to_text
from tests.rating.made_outcomes import duel, match, void
from tests.rating.made_schemes import made_setting
from tests.rating.schemes.test_leaderboard import BOARD_OF, LOGS

BOARDS = {kind: BOARD_OF[kind](log, stop_reason="cap") for kind, log in LOGS.items()}

KEYS = """environment scheme ranked_by rows caveats notes wide_notes facts matches void_matches bug_matches undecided_matches
    stop_reason stopped_after stopped_with reached paused references staff max_fallbacks scheduled left_over unbalanced
    established""".split()
ROW_KEYS = "policy metric rating score reward tally effort fallback_share withheld absent rank".split()
FACTS = {
    "duels": "seat_advantage first_seat first_seat_wins deals is_connected is_regularised orders",
    "mean_reward": "",
    "cooperation": "",
    "roles": "advantage unclassified",
}
MORE_ROW_KEYS = {
    "duels": "rating_without_ties rating_without_forfeits forfeited ended_by_forfeit first second mu sigma spread",
    "mean_reward": "",
    "cooperation": "self_play cross_play plus_minus",
    "roles": "roles skills overall",
}


def printed(board, width=400, *, limit=None, **options):
    """Returns a leaderboard as a terminal of a width shows it, with columns chosen for a width of at most ``limit``."""
    out = io.StringIO()
    shown = sheet(board, **options)
    Console(file=out, width=width, color_system=None).print(render(shown, limit) if limit else render(shown))
    return out.getvalue()


def brief(board, **options):
    return printed(board, WIDTH, limit=WIDTH, **options)


@pytest.mark.parametrize("kind", BOARDS)
def test_json_has_stable_keys_and_rounded_numbers(kind):
    text = to_json(BOARDS[kind])
    table = json.loads(text)
    assert list(table) == KEYS and list(table["facts"]) == FACTS[kind].split() and table["scheme"] == kind
    assert all(list(row) == [*ROW_KEYS, *MORE_ROW_KEYS[kind].split()] for row in table["rows"])
    assert [row["policy"] for row in table["rows"]] == [row.policy for row in BOARDS[kind].rows]
    numbers = re.findall(r"-?\d+\.\d+(?:e-?\d+)?", re.sub(r'"(?:[^"\\]|\\.)*"', "", text))
    assert numbers and all(float(number) == round(float(number), 4) and number != "-0.0" for number in numbers)


@pytest.mark.parametrize("kind", BOARDS)
def test_text_and_rich_table_have_the_same_cells(kind):
    shown = sheet(BOARDS[kind], wide=True)
    lines = to_text(BOARDS[kind]).split("\n")
    assert lines[0] == "game_v0" and len(lines) == 2 + len(shown.rows) + len(shown.notes)
    width = max(cell_len(line) for line in lines[1 : 2 + len(shown.rows)])
    assert all(cell_len(line) <= width for line in lines[1 : 2 + len(shown.rows)])
    text = printed(BOARDS[kind], wide=True)
    assert all(cell in text for cell in [*itertools.chain(shown.header, *shown.rows), *shown.notes])


LONG = [
    *(f"provider/some-large-language-model-20{year}-preview" for year in range(15, 25)),
    "提供商/一个名字很长的大型语言模型预览版第一号二零二五",
    "提供商/一个名字很长的大型语言模型预览版第二号二零二五",
    "minimax",
    "random",
]


def logs():
    """Returns logs with many long names, ties, an unbeaten policy, one policy, or forfeits."""
    rng = np.random.default_rng(0)
    pairs = list(itertools.permutations(LONG, 2))
    wins = [duel(number, *pair, pair[rng.integers(2)], seed=number // 2) for number, pair in enumerate(pairs)]
    ties = [duel(number, *pair, None if number % 10 else pair[0]) for number, pair in enumerate(pairs)]
    best = [
        duel(number, *pair, "minimax" if "minimax" in pair else pair[number % 2]) for number, pair in enumerate(pairs)
    ]
    forfeit = [
        replace(outcome, seats=(replace(outcome.seats[0], forfeit="illegal", reward=-1.0), outcome.seats[1]))
        for outcome in wins
    ]
    one = [match(0, ("a", 1.0), ("a", -1.0))]
    return {"long": wins, "ties": ties, "unbeaten": best, "one": one, "forfeits": forfeit}


BOARD = {kind: skill_leaderboard(log) for kind, log in logs().items()}


@pytest.mark.parametrize("kind", BOARD)
def test_brief_table_fits_into_100_columns(kind):
    board = BOARD[kind]
    marked = replace(board, rows=tuple(replace(row, absent="withdrawn: by hand") for row in board.rows))
    for one, costs in ((board, {}), (marked, dict.fromkeys((row.policy for row in board.rows), "1234.56"))):
        text = brief(one, costs=costs)
        lines = text.split("\n")
        assert max(map(cell_len, lines)) <= 100 and "…" not in text and "no room" not in text
        assert all(heading in lines[1] for heading in ("rank", "policy", "rating", "score, %", "matches"))
        assert ("cost" in lines[1]) == bool(costs) and ("mark" in lines[1]) == (bool(costs) or kind == "forfeits")
        body = [
            re.split(r" {2,}", f"{line[:4].strip() or '-'}  {line[6:]}".rstrip())
            for line in lines[2 : 2 + len(board.rows)]
        ]
        names = [cells[1].strip() for cells in body]
        assert len(body) == len({*names}) == len(board.rows)
        for row, name, cells in zip(board.rows, names, body, strict=True):
            head, _, tail = name.partition(GAP)
            assert row.policy.startswith(head) and row.policy.endswith(tail)
            assert cells[0].strip() == ("-" if row.rank is None else "-".join(map(str, dict.fromkeys(row.rank))))
            assert rating(row.rating) in [*cells, ""]


def test_brief_summary_of_many_environments_keeps_the_ranks():
    scores = {f"some_environment_{index}_v0": dict.fromkeys(LONG, 1.0 + index) for index in range(9)}
    summary = summarise_scores(scores, {})
    text = brief(summary)
    assert max(map(cell_len, text.split("\n"))) <= 100 and "no room for: some_environment" in text
    assert all(heading in text.split("\n")[1] for heading in ("rank", "policy", "score, %", "best = 100"))
    assert text.split("\n")[2 + len(LONG)].split()[0] == "average"


def test_brief_table_marks_open_intervals_and_forfeits():
    assert "-)" in next(line for line in brief(BOARD["unbeaten"]).split("\n") if "minimax" in line)
    text = brief(BOARD["forfeits"])
    assert "ff 50%" in text and "ff: share of its matches" in text and "no forfeits" not in text
    assert "no forfeits" in to_text(BOARD["forfeits"])


def test_text_notes_ties_only_where_they_occur():
    assert "tell expected scores" in to_text(BOARD["ties"])
    assert "tell expected scores" not in to_text(BOARD["long"])
    assert "no ties" not in to_text(BOARD["long"])
    assert "first seat won" not in to_text(skill_leaderboard([void(0, "a", "b")]))


def test_tables_wide_or_marked_up_names_are_unchanged():
    outcomes = [duel(0, "[bold]大模型[/bold]", "b", "b"), duel(1, "b", "[bold]大模型[/bold]", None)]
    board = skill_leaderboard(outcomes)
    header, *rows = to_text(board).split("\n")[1:4]
    assert rows[1].split()[1] == "[bold]大模型[/bold]"
    end = cell_len(header[: header.index("rating") + len("rating")])
    assert all(cell_len(row[: re.search(r"[])]  ", row[28:]).start() + 29]) == end for row in rows[1:])
    assert "[bold]大模型[/bold]" in printed(board)


def test_brief_table_name_with_newlines_takes_one_row():
    text = brief(skill_leaderboard([duel(0, "two\nlines", "b", "b")]))
    assert "two\\nlines" in text and not re.search(r"^ *lines", text, re.M)


def test_text_of_ranked_means_names_the_confidence_level():
    board = Cooperation(made_setting()).board([match(n, (name, 2.0), (name, 2.0)) for n, name in enumerate("abab")])
    said = "rank: by mean reward with itself; differences paired on common deals, with 95 % confidence for all pairs together"
    assert said in to_text(board) and [row.rank for row in board.rows] == [(1, 2), (1, 2)]


def test_text_of_an_intransitive_pool_names_the_cycle():
    beats = {"rock": "scissors", "scissors": "paper", "paper": "rock"}
    pairs = list(itertools.permutations(beats, 2)) * 15
    played = [duel(n, *pair, pair[beats[pair[0]] != pair[1]], seed=n // 6) for n, pair in enumerate(pairs)]
    assert "paper beats rock (30 of 30)" in to_text(skill_leaderboard(played))
    assert "one scale" not in to_text(BOARD["long"])


def test_text_notes_stop_reasons_and_left_out_matches():
    board = skill_leaderboard([duel(0, "a", "b", "a"), void(1, "a", "b")], stop_reason="cap")
    text = to_text(board)
    assert "1 match; stopped: cap" in text and "stopped with" not in text
    assert "\nnow: enough\n" in to_text(replace(board, reached="enough"))
    both = to_text(replace(board, stopped_with="enough", reached="less"))
    assert "\nstopped with: enough\nnow, including in-flight matches: less\n" in both
    assert "\nnow" not in to_text(replace(board, stopped_with="enough", reached="enough"))
    assert "1 match; paused: all tied; `llmarena resume DIR --keep-going`" in to_text(replace(board, paused="all tied"))
    assert "left out: 1 void matches, 0 with a bug" in text
    assert board.caveats[0] in text
    assert "random votes: 0.600" in to_text(replace(BOARDS["roles"], references={"random votes": 0.6}))


def test_text_effort_columns_only_where_there_is_any():
    assert "re-asks" not in to_text(BOARDS["duels"])
    seats = SeatOutcome("a", 1.0, reasks=3, failures={"illegal": 2}), SeatOutcome("b", -1.0, forfeit="illegal")
    text = to_text(skill_leaderboard([Outcome("game_v0", 0, 0, FINISHED, seats)]))
    assert "re-asks" in text and "illegal 2" in text and "forfeits" in text and "tokens in" not in text


def test_sheet_missing_values_are_empty_cells():
    board = Cooperation(made_setting()).board([match(0, ("a", 2.0), ("a", 2.0)), match(1, ("b", 1.0), ("c", 1.0))])
    rows = {row[1]: row for row in sheet(board).rows}
    assert rows["a"][3] == "" and rows["b"][2] == ""
    assert rows["a"][2] == "2.00 (1)"


def test_summary_as_text_json_and_table():
    scores = {"tictactoe_v0": {"a": 30.0, "b": 20.0}, "hanabi_v0": {"a": 0.0}, "bid_v0": {"b": 0.5}}
    summary = summarise_scores(scores, {})
    lines = to_text(summary).split("\n")
    assert lines[1].split()[-2:] == ["tictactoe_v0", "bid_v0"]
    assert "hanabi_v0 is left out" in lines[-1]
    table = json.loads(to_json(summary))
    assert table["rows"][0]["scores"] == {"tictactoe_v0": 100.0, "bid_v0": None}
    assert "All environments" in printed(summary)
    assert to_json(summarise_scores(scores, {})) == to_json(summary)


@pytest.mark.parametrize("kind", BOARDS)
@pytest.mark.parametrize("width", [60, 80, 100, 400])
def test_narrow_terminal_shows_whole_columns(kind, width):
    shown = printed(BOARDS[kind], width, limit=width)
    assert "…" not in shown and max(cell_len(line) for line in shown.split("\n")) <= width
    board = sheet(BOARDS[kind])
    missing = [title for title in board.header if title not in shown.split("no room for")[0]]
    assert ("no room for: " in shown) == bool(missing)
    for row in board.rows:
        assert row[2] in shown
    if kind == "duels":
        assert ("score, %" in missing) == (width < 55)
