"""The board of a run: the leaderboards of ``rate``, every match turn by turn, and hostile text as text."""

import hashlib
import json
import os
import re
import sqlite3
from contextlib import closing

import pytest

from rating.cli import main
from rating.errors import StoreError
from rating.play import run_directory
from rating.store.location import open_file
from rating.store.records import dump_turn
from rating.viewer.answer import answers
from rating.viewer.report.tables import sheet
from rating.viewer.source import open_source, tables_of
from rating.viewer.web import board, listing
from rating.viewer.web.transcript import CUT
from tests.rating.runs import play_run, run_file
from tests.rating.viewer.web.pages import HOME, cells, check_inert, pages_of

RUN = run_file(
    *("tictactoe_v0", "connect_four_v0"), policies=("first_legal", "random"), stop="min_matches = 4\nmax_matches = 8"
)
HOSTILE = run_file(
    "tictactoe_v0",
    policies=(
        'name = "<b>bad</b> & $x^2$ </script>"\nspec = "tests.rating.players:hostile"',
        f'name = "\' onclick=\'alert(3)\' {"n" * 170}"\nspec = "tests.rating.players:megabyte"',
        'name = "dead"\nspec = "tests.rating.players:raises"',
    ),
    stop='min_matches = 2\nmax_matches = 4\n[turns]\nunparsable = "forfeit"',
    more="max_errors = 100",
)
WRITTEN = "\u202edetrever \x00 \x1b[2J <svg onload=alert(4)>"
"""Text that can enter a record only by an edit of the file."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return play_run(tmp_path_factory.mktemp("board") / "run", RUN)


@pytest.fixture(scope="module")
def pages(run):
    return pages_of(run)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return play_run(tmp_path_factory.mktemp("board") / "<i>run", HOSTILE)


def matches(directory, status="finished"):
    with closing(run_directory.open_store(directory)) as store:
        return [record for record in store.records() if record.status == status]


def test_board_shows_the_leaderboards_of_rate(pages, run):
    html = pages.get(HOME).text
    with open_source(run) as source:
        tables, _ = tables_of(source)
    *boards, summary = tables
    assert len(boards) == 2
    for line in answers(tables):
        assert f'<p class="answer">{line}</p>' in html
    for number, table in enumerate([summary, *boards], start=1):
        expected = sheet(table)
        assert cells(html, f"ratings-{number}-table") == [expected.header, *expected.rows]
        wide = sheet(table, wide=True)
        assert cells(html, f"ratings-{number}-wide-table") == [wide.header, *wide.rows]
        section = re.search(rf'<section id="ratings-{number}".*?</section>', html, re.DOTALL)[0]
        assert section.count("<li>") == len(expected.notes) + len(wide.notes)
    assert html.count('role="img"') == 2  # the ratings of each environment with their intervals


def test_board_shows_the_progress_of_the_run(pages):
    html = pages.get(HOME).text
    header, *rows = cells(html, "progress-table")
    assert [dict(zip(header, row, strict=True))["finished"] for row in rows] == ["8", "8"]
    assert [row[:2] for row in rows] == [["tictactoe_v0", "cap"], ["connect_four_v0", "cap"]]
    assert "Finished." in html and 'id="under-way"' not in html and 'id="failures"' not in html
    assert "http-equiv" not in html


def test_board_has_a_page_for_every_turn(pages, run):
    record = matches(run)[0]
    home = f"{HOME}/match/{record.match.id}"
    pictures = set()
    for number in range(len(record.turns) + 1):
        html = pages.get(f"{home}/{number}").text
        pictures.add(re.search(r"<svg.*?</svg>", html, re.DOTALL)[0])
        steps = dict(re.findall(r'href="([^"]*)"[^>]* data-step="(\w+)"', html))
        steps = {step: address for address, step in steps.items()}
        assert steps.get("prev") == (f"{home}/{number - 1}" if number else None)
        assert steps.get("next") == (f"{home}/{number + 1}" if number < len(record.turns) else None)
        if number:
            turn = record.turns[number - 1]
            assert turn.played in html and turn.read.splitlines()[0] in html
    assert len(pictures) == len(record.turns) + 1
    last = pages.get(home).text
    assert f"after turn {len(record.turns)} of {len(record.turns)}" in last and "following" not in last
    rewards = {seat.agent: f"{seat.reward:+g}" for seat in record.outcome.seats}
    assert {row[0]: row[2] for row in cells(last, "seats")[1:]} == rewards
    assert pages.get(f"{home}/1/read").text == record.turns[0].read


@pytest.mark.parametrize(
    "path", ["nothing", *(f"{{id}}/{place}" for place in ("10", "-1", "1/reply-2", "1/reply-x", "1/x"))]
)
def test_board_unknown_address_gives_404(pages, run, path):
    assert pages.get(f"{HOME}/match/{path.format(id=matches(run)[0].match.id)}").status_code == 404


def test_board_without_its_secret_gives_404(pages, run):
    name = matches(run)[0].match.id
    for path in ("", "/matches", "/events", f"/match/{name}", f"/match/{name}/events", f"/match/{name}/1/read"):
        assert pages.get(f"/board/other{path}").status_code == 404
    for method in ("post", "put", "patch", "delete"):
        assert getattr(pages, method)(HOME).status_code == 405


def test_board_writes_nothing_into_the_run(tmp_path):
    directory = play_run(tmp_path / "run", RUN)

    def contents():
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}

    before, pages, record = contents(), pages_of(directory), matches(directory)[0]
    for path in ("", "/matches", f"/match/{record.match.id}"):
        assert pages.get(HOME + path).status_code == 200
    assert contents() == before
    with closing(open_file(directory / "run.db", read_only=True)) as store, pytest.raises(StoreError):
        store.set_fact("a", "b")


@pytest.mark.slow
def test_board_hostile_text_is_escaped(hostile):
    pages = pages_of(hostile)
    addresses = ["", "/matches"]
    addresses += [
        f"/match/{record.match.id}{turn}"
        for status in ("finished", "void")
        for record in matches(hostile, status)[:3]
        for turn in ("", *(f"/{number + 1}" for number in range(len(record.turns))))
    ]
    assert len(addresses) > 6
    for address in addresses:
        answer = pages.get(HOME + address)
        assert answer.status_code == 200 and len(answer.text) < 300_000
        check_inert(answer.text)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    overview = pages.get(HOME).text
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; $x^2$ &lt;/script&gt;" in overview
    assert "the line is dead" in overview  # why matches are void
    failures = cells(overview, "failures-table")
    assert ["tictactoe_v0", "<b>bad</b> & $x^2$ </script>"] in [row[:2] for row in failures]


def test_board_long_texts_are_cut_with_a_link(hostile):
    pages = pages_of(hostile)
    turns = ((record, turn) for record in matches(hostile) for turn in record.turns)
    record, turn = next((record, turn) for record, turn in turns if len(turn.attempts[0].reply) > CUT)
    home = f"{HOME}/match/{record.match.id}"
    html = pages.get(f"{home}/{turn.index + 1}").text
    assert f"The first {CUT:,} of 1,000,000 characters" in html
    link = f"{home}/{turn.index + 1}/reply-1"
    assert f'<a href="{link}">All of it</a>' in html
    answer = pages.get(link)
    assert answer.text == "x" * 1_000_000 and answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_board_forged_record_is_escaped(tmp_path):
    directory = play_run(tmp_path / "run", RUN)
    record = matches(directory)[0]
    with sqlite3.connect(directory / "run.db") as db:
        seats = [{"policy": f"{WRITTEN}\ud800", "reward": 1.0, "agent": WRITTEN}, {"policy": "random", "reward": 0.0}]
        db.execute("UPDATE match SET seats = ?, error = ? WHERE id = ?", (json.dumps(seats), WRITTEN, record.match.id))
    db.close()
    pages = pages_of(directory)
    for path in ("", "/matches", f"/match/{record.match.id}", f"/match/{record.match.id}/0/error"):
        answer = pages.get(HOME + path)
        assert answer.status_code == 200 and not {"\u202e", "\x00", "\x1b"} & set(answer.text)
        if answer.headers["content-type"].startswith("text/html"):
            check_inert(answer.text)
    shown = pages.get(f"{HOME}/match/{record.match.id}").text
    assert r"\u202edetrever \x00 \x1b[2J &lt;svg onload=alert(4)&gt;" in shown


def test_board_damaged_match_does_not_affect_others(tmp_path):
    directory = play_run(tmp_path / "run", RUN)
    broken, sound = matches(directory)[:2]
    with sqlite3.connect(directory / "run.db") as db:
        db.execute("DELETE FROM transcript WHERE match = ?", (broken.match.id,))
        turn = json.loads(dump_turn(broken.turns[0]))
        turn["attempts"][0]["seconds"] = turn["rewards"] = ["no number"]
        db.execute("INSERT INTO turn VALUES (?, 0, ?, '')", (broken.match.id, json.dumps(turn)))
    db.close()
    pages = pages_of(directory)
    answer = pages.get(f"{HOME}/match/{broken.match.id}")
    assert answer.status_code == 503 and 'id="trouble"' in answer.text and "Traceback" not in answer.text
    assert pages.get(f"{HOME}/match/{sound.match.id}").status_code == pages.get(HOME).status_code == 200


def test_board_filters_and_pages_matches(pages):
    html = pages.get(f"{HOME}/matches").text
    assert "16 matches, page 1 of 1" in html
    assert "8 matches" in pages.get(f"{HOME}/matches?environment=connect_four_v0&policy=random&result=finished").text
    assert "0 matches" in pages.get(f"{HOME}/matches?result=void&page=99").text
    assert "0 matches" in pages.get(f"{HOME}/matches?policy=%22%3E%3Cscript%3E").text


def test_board_list_is_made_once_per_change(run, monkeypatch, unpaced):
    made = []
    choose = listing.choose
    monkeypatch.setattr(board, "choose", lambda *given: (made.append(given[1]), choose(*given))[1])
    pages = pages_of(run)
    for query in ("", "?page=1", "?result=finished", "", "?result=finished"):
        assert pages.get(f"{HOME}/matches{query}").status_code == 200
    assert len(made) == 2
    os.utime(run / "run.db")
    pages.get(f"{HOME}/matches")
    assert len(made) == 3


def test_board_missing_or_damaged_run_shows_the_reason(tmp_path, unpaced):
    directory = play_run(tmp_path / "run", RUN)
    pages, database = pages_of(directory), directory / "run.db"
    record, good = matches(directory)[0], database.read_bytes()
    home = f"{HOME}/match/{record.match.id}"
    assert pages.get(HOME).status_code == pages.get(home).status_code == 200

    def check_trouble(path, expected):
        answer = pages.get(path)
        assert answer.status_code == 503 and expected in answer.text and "Traceback" not in answer.text

    database.unlink()
    for path in (HOME, home, f"{home}/1/read"):
        check_trouble(path, "but there is none")
    torn = good[:4096] + b"\x00" * 8192 + good[12288:]
    for damaged in (b"", b"no database at all, " * 1000, good[: len(good) // 2], torn):
        database.write_bytes(damaged)
        check_trouble(HOME, "database")
    database.write_bytes(good)
    assert pages.get(HOME).status_code == pages.get(home).status_code == 200

    text = (directory / "run.toml").read_text()
    for wrong, expected in (
        ("what = is this", "not a TOML file"),
        (text.replace("connect_four_v0", "no_such_game"), "no_such_game"),
        (text, "Finished."),
    ):
        (directory / "run.toml").write_text(wrong)
        assert expected in pages.get(HOME).text


def test_serve_without_a_run_is_refused(tmp_path, capsys):
    assert main(["serve", str(tmp_path), "--port", "0"]) == 2
    assert "expected the directory of a run" in capsys.readouterr().err
