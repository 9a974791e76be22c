"""The board of a run: what ``rate`` prints, every match turn by turn, and nothing of what players write but as text."""

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
from rating.store.file import open_file
from rating.store.record import dump_turn
from rating.viewer.report.tables import sheet
from rating.viewer.source import open_source, tables_of
from rating.viewer.web import board, listing
from rating.viewer.web.links import keep_links
from rating.viewer.web.transcript import CUT
from tests.rating.viewer.web.pages import HOME, cells, check_inert, pages_of, play_run

RUN = """
seed = 4
workers = 1
[stop]
min_matches = 4
max_matches = 8
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "connect_four_v0"
[[policy]]
spec = "first_legal"
[[policy]]
spec = "random"
"""

HOSTILE = """
seed = 4
workers = 1
max_errors = 100
[stop]
min_matches = 2
max_matches = 4
[turns]
unparsable = "forfeit"
[[environment]]
name = "tictactoe_v0"
[[policy]]
name = "<b>bad</b> & $x^2$ </script>"
spec = "tests.rating.players:hostile"
[[policy]]
name = "' onclick='alert(3)' LONG"
spec = "tests.rating.players:megabyte"
[[policy]]
name = "dead"
spec = "tests.rating.players:raises"
""".replace("LONG", "n" * 170)

WRITTEN = "\u202edetrever \x00 \x1b[2J <svg onload=alert(4)>"
"""What nobody can write into a record but who has the file."""


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


def test_leaderboards_are_those_that_rate_prints(pages, run):
    html = pages.get(HOME).text
    with open_source(run) as source:
        tables, _ = tables_of(source)
    assert len(tables) == 3
    for number, table in enumerate(tables, start=1):
        expected = sheet(table)
        assert cells(html, f"ratings-{number}-table") == [expected.header, *expected.rows]
        wide = sheet(table, wide=True)
        assert cells(html, f"ratings-{number}-wide-table") == [wide.header, *wide.rows]
        section = re.search(rf'<section id="ratings-{number}".*?</section>', html, re.DOTALL)[0]
        assert section.count("<li>") == len(expected.notes) + len(wide.notes)
    assert html.count('role="img"') == 2  # the ratings of each environment with their intervals


def test_it_says_how_far_the_run_is(pages):
    html = pages.get(HOME).text
    header, *rows = cells(html, "progress-table")
    assert [dict(zip(header, row, strict=True))["finished"] for row in rows] == ["8", "8"]
    assert [row[:2] for row in rows] == [["tictactoe_v0", "cap"], ["connect_four_v0", "cap"]]
    assert "It has ended." in html and 'id="under-way"' not in html and 'id="failures"' not in html
    assert "http-equiv" not in html


def test_every_turn_of_a_match_has_its_page(pages, run):
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
    "path",
    [
        "/match/nothing",
        "/match/{id}/10",
        "/match/{id}/-1",
        "/match/{id}/1/reply-2",
        "/match/{id}/1/reply-x",
        "/match/{id}/1/x",
    ],
)
def test_what_is_not_there_is_not_found(pages, run, path):
    answer = pages.get(HOME + path.format(id=matches(run)[0].match.id))
    assert answer.status_code == 404


def test_only_who_knows_the_secret_sees_anything(pages, run):
    name = matches(run)[0].match.id
    for path in ("", "/matches", "/events", f"/match/{name}", f"/match/{name}/events", f"/match/{name}/1/read"):
        assert pages.get(f"/board/other{path}").status_code == 404
    for method in ("post", "put", "patch", "delete"):
        assert getattr(pages, method)(HOME).status_code == 405


def test_nothing_is_written(tmp_path):
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
def test_hostile_text_stays_text(hostile):
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


def test_long_texts_are_cut_with_a_link_to_all_of_them(hostile):
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


def test_a_record_that_somebody_has_written_into_steers_nothing(tmp_path):
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


def test_a_damaged_match_is_said_to_be_and_the_others_are_shown(tmp_path):
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


def test_matches_are_filtered_and_paged(pages):
    html = pages.get(f"{HOME}/matches").text
    assert "16 matches, page 1 of 1" in html
    assert "8 matches" in pages.get(f"{HOME}/matches?environment=connect_four_v0&policy=random&result=finished").text
    assert "0 matches" in pages.get(f"{HOME}/matches?result=void&page=99").text
    assert "0 matches" in pages.get(f"{HOME}/matches?policy=%22%3E%3Cscript%3E").text


def test_a_list_is_made_once_for_all_who_look_until_something_is_new(run, monkeypatch):
    monkeypatch.setattr("rating.viewer.web.live._LEAST_PAUSE", 0)
    monkeypatch.setattr("rating.viewer.web.live._REST", 0)
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


def test_a_run_that_is_gone_or_damaged_is_said_to_be_and_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr("rating.viewer.web.live._LEAST_PAUSE", 0)
    monkeypatch.setattr("rating.viewer.web.live._REST", 0)
    directory = play_run(tmp_path / "run", RUN)
    pages, database = pages_of(directory), directory / "run.db"
    record, good = matches(directory)[0], database.read_bytes()
    home = f"{HOME}/match/{record.match.id}"
    assert pages.get(HOME).status_code == pages.get(home).status_code == 200

    database.unlink()
    for path in (HOME, home):
        answer = pages.get(path)
        assert answer.status_code == 503 and "but there is none" in answer.text and "Traceback" not in answer.text
    assert pages.get(f"{home}/1/read").status_code == 503
    for damaged in (
        b"",
        b"no database at all, " * 1000,
        good[: len(good) // 2],
        good[:4096] + b"\x00" * 8192 + good[12288:],
    ):
        database.write_bytes(damaged)
        answer = pages.get(HOME)
        assert answer.status_code == 503 and "database" in answer.text and "Traceback" not in answer.text, damaged[:10]
    database.write_bytes(good)
    assert pages.get(HOME).status_code == pages.get(home).status_code == 200

    run_file = (directory / "run.toml").read_text()
    (directory / "run.toml").write_text("what = is this")
    assert "not a TOML file" in pages.get(HOME).text
    (directory / "run.toml").write_text(run_file.replace("connect_four_v0", "no_such_game"))
    assert "no_such_game" in pages.get(HOME).text
    (directory / "run.toml").write_text(run_file)
    assert "It has ended." in pages.get(HOME).text


def test_where_nothing_may_be_written_the_addresses_hold_for_this_process(tmp_path):
    (tmp_path / "web.json.new").mkdir()  # as root one may write anywhere
    first, second = keep_links(tmp_path, ()), keep_links(tmp_path, ())
    assert len(first.board) > 20 and first.board != second.board


def test_serve_without_a_run_is_refused(tmp_path, capsys):
    assert main(["serve", str(tmp_path), "--port", "0"]) == 2
    assert "expected the directory of a run" in capsys.readouterr().err
