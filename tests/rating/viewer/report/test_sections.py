"""Sections of the page, for runs of every scheme and a log."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from html import unescape

import pytest

from rating.schemes.caveats import figures
from rating.schemes.duels import Duels, skill_leaderboard
from rating.viewer.report.page import page_of
from rating.viewer.report.sections import leaderboard_sections
from rating.viewer.report.write import report_page
from rating.viewer.source import open_source
from tests.rating.made_outcomes import duel
from tests.rating.made_schemes import made_setting
from tests.rating.runs import play_run, run_file

STOP = "rule = 'trueskill'\nmin_matches = 24\nmax_matches = 24\nmatches = 6"

RUNS = {
    "duels": ('name = "tictactoe_v0"', "random first_legal greedy", "Seats|Calibration|Who beats whom"),
    "field": ('name = "tictactoe_v0"\nscheme = "field"', "random first_legal greedy", "Seats"),
    "mean_reward": (
        'name = "bid_v0"\noptions = { n_bidders = 3 }',
        "random half truthful",
        "Seats|Calibration|Who beats whom",
    ),
    "cooperation": ('name = "hanabi_v0"', "random first_legal", "Seats"),
    "self_play": ('name = "tictactoe_v0"\nscheme = "self_play"', "random greedy", "Seats"),
    "hidden roles": ('name = "undercover_v0"', "random similarity", "Seats|Roles"),
    "roles": ('name = "writer_editor_v0"\nstaff = { judge = ["by_length"] }', "fixer echo", "Roles"),
    "tournament": (
        'name = "debate_v0"\noptions = { n_judges = 1, discussion = false }\nstaff = { judge = ["honest"] }\n'
        "tournament = { questions = 2 }",
        "debater verbose off_topic",
        "Seats|Sides|Calibration|Judges of",
    ),
}


def played(folder, environment, policies):
    return play_run(folder, run_file(environment, policies=tuple(policies.split()), seed=3, stop=STOP))


def titles(page):
    return [unescape(title) for title in re.findall(r"<h2[^>]*>([^<]*)</h2>", page)]


def tabs(page):
    return re.findall(r'<li><a href="#[^"]*">([^<]*)</a>', page[page.index("<nav") : page.index("</nav>")])


SLOW = ("roles", "cooperation")


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.slow if kind in SLOW else ()) for kind in RUNS])
def test_page_of_every_scheme_has_its_sections(kind, tmp_path):
    environment, policies, expected = RUNS[kind]
    page = report_page(played(tmp_path / "run", environment, policies), "run")
    found = titles(page)
    name = environment.split('"')[1]
    for title in expected.split("|"):
        assert any(one in (f"{title}: {name}", f"{title} {name}") for one in found), (title, found)
    assert page.count("<svg") >= 3  # values with intervals, their course, and one by place
    assert tabs(page)[0] == "Games" and tabs(page)[-2:] == ["Matches", "Methods"]


def test_page_shows_failures_and_reasons(tmp_path):
    folder = played(tmp_path / "run", 'name = "tictactoe_v0"', "random tests.rating.players:hostile")
    with closing(sqlite3.connect(folder / "run.db")) as db, db:
        db.execute("UPDATE match SET status = 'void', error = '<b>429</b>: wait' WHERE number IN (0, 1)")
    page = report_page(folder, "run")
    assert "Failures" in titles(page) and "Why matches do not count" in page
    assert "<td>&lt;b&gt;429&lt;/b&gt;: wait</td><td>tictactoe_v0</td><td>void</td><td>2</td>" in page


def test_leaderboard_section_of_one_policy_has_no_pairs():
    outcomes = [duel(number, "a", "b", "a", seed=number // 2) for number in range(4)]
    board = skill_leaderboard(outcomes)
    rows = tuple(replace(row, withheld=row.policy == "b") for row in board.rows)
    board = replace(board, rows=rows)
    sections = leaderboard_sections(board, figures(board, outcomes, Duels(made_setting()).figures))
    assert [section.tab for section in sections] == ["Games"]


def test_page_of_a_log_has_calibration_and_transitivity(tmp_path):
    log = tmp_path / "battles.csv"
    pairs = [(one, two) for one in "abcd" for two in "abcd" if one != two] * 6
    rows = [
        f"{one},{two},{'model_a' if (one < two) != (k % 7 == 0) else 'model_b'}" for k, (one, two) in enumerate(pairs)
    ]
    log.write_text("model_a,model_b,winner\n" + "\n".join(rows) + "\n")
    with open_source(log) as source:
        page = page_of(source)
        path = tmp_path / "page.html"
        with path.open("w", encoding="utf-8") as file:
            page.write(file)
    found = titles(path.read_text(encoding="utf-8"))
    assert [title.partition(":")[0] for title in found[1:]] == ["Pairs", "Who beats whom", "Calibration", "Record"]
    assert [plot.what for plot in page.plots] == ["ratings", "pairs", "calibration"]
