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
from rating.viewer.report.write import report_page
from rating.viewer.source import open_source, tables_of
from rating.viewer.web import board
from tests.rating.runs import play_run, run_file
from tests.rating.viewer.web.pages import HOME, check_inert, pages_of, tables_in

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


def content(pages, record):
    answer = pages.get(f"{HOME}/match/{record.match.id}")
    assert answer.status_code == 200
    return answer.json()


def parts(html):
    return re.split(r'<div class="tab"', html[html.index("<main>") : html.index("</main>")])[1:]


def test_board_is_the_page_of_the_report(pages, run):
    html = pages.get(HOME).text
    *others, progress, matches, methods = parts(html)
    report = parts(report_page(run, "run"))
    assert others == report[:-2] and methods == report[-1]
    assert "Progress" in progress and 'id="browse"' in matches
    with open_source(run) as source:
        tables, _ = tables_of(source)
    assert len(tables) == 3
    for line in answers(tables):
        assert f'<p class="answer">{line}</p>' in html
    for table in tables:
        wide = sheet(table, wide=True)
        assert [wide.header, *wide.rows] in tables_in(html)


def test_board_shows_the_progress_of_the_run(pages):
    html = pages.get(HOME).text
    header, *rows = next(table for table in tables_in(html) if "scheduled" in table[0])
    assert [dict(zip(header, row, strict=True))["finished"] for row in rows] == ["8", "8"]
    assert [row[:2] for row in rows] == [["tictactoe_v0", "cap"], ["connect_four_v0", "cap"]]
    assert "Finished." in html and "http-equiv" not in html


def test_board_has_every_match_and_turn(pages, run):
    index = pages.get(f"{HOME}/index").json()
    assert index["columns"]["number"] == [*range(8), *range(8)]
    assert index["rules"].keys() == {"tictactoe_v0", "connect_four_v0"}
    record = matches(run)[0]
    shown = content(pages, record)
    assert [turn["played"] for turn in shown["turns"]] == [turn.played for turn in record.turns]
    assert shown["turns"][0]["read"] == record.turns[0].read
    assert shown["seats"] == {seat.agent: seat.policy for seat in record.outcome.seats}
    places = range(len(record.turns) + 1)
    pictures = [pages.get(f"{HOME}/match/{record.match.id}/{place}").json() for place in places]
    assert len({picture["svg"] for picture in pictures}) == len(pictures)
    assert {picture["missing"] for picture in pictures} == {""}


@pytest.mark.parametrize("path", ["nothing", "{id}/10", "{id}/-1", "{id}/x", "{id}/1/read"])
def test_board_unknown_address_gives_404(pages, run, path):
    assert pages.get(f"{HOME}/match/{path.format(id=matches(run)[0].match.id)}").status_code == 404


def test_board_without_its_secret_gives_404(pages, run):
    name = matches(run)[0].match.id
    for path in ("", "/index", "/events", f"/match/{name}", f"/match/{name}/1"):
        assert pages.get(f"/board/other{path}").status_code == 404
    for method in ("post", "put", "patch", "delete"):
        assert getattr(pages, method)(HOME).status_code == 405


def test_board_writes_nothing_into_the_run(tmp_path):
    directory = play_run(tmp_path / "run", RUN)

    def contents():
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}

    before, pages, record = contents(), pages_of(directory), matches(directory)[0]
    for path in ("", "/index", f"/match/{record.match.id}", f"/match/{record.match.id}/1"):
        assert pages.get(HOME + path).status_code == 200
    assert contents() == before
    with closing(open_file(directory / "run.db", read_only=True)) as store, pytest.raises(StoreError):
        store.set_fact("a", "b")


def test_board_hostile_text_is_escaped(hostile):
    pages = pages_of(hostile)
    answer = pages.get(HOME)
    check_inert(answer.text)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; $x^2$ &lt;/script&gt;" in answer.text
    assert "the line is dead" in answer.text  # why matches are void
    failures = next(table for table in tables_in(answer.text) if table[0][:3] == ["environment", "policy", "turns"])
    assert ["tictactoe_v0", "<b>bad</b> & $x^2$ </script>"] in [row[:2] for row in failures]
    for record in matches(hostile)[:3]:
        answer = pages.get(f"{HOME}/match/{record.match.id}")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        replies = [attempt["reply"] for turn in answer.json()["turns"] for attempt in turn["attempts"]]
        assert replies == [attempt.reply for turn in record.turns for attempt in turn.attempts]


def test_board_forged_record_is_escaped(tmp_path):
    directory = play_run(tmp_path / "run", RUN)
    record = matches(directory)[0]
    with sqlite3.connect(directory / "run.db") as db:
        seats = [{"policy": f"{WRITTEN}\ud800", "reward": 1.0, "agent": WRITTEN}, {"policy": "random", "reward": 0.0}]
        db.execute("UPDATE match SET seats = ?, error = ? WHERE id = ?", (json.dumps(seats), WRITTEN, record.match.id))
    db.close()
    pages = pages_of(directory)
    html = pages.get(HOME).text
    assert not {"\u202e", "\x00", "\x1b"} & set(html)
    check_inert(html)
    assert r"\u202edetrever \x00 \x1b[2J &lt;svg onload=alert(4)&gt;" in html
    assert content(pages, record)["seats"].keys() == {WRITTEN, ""}
    assert WRITTEN in [error for *_, error in pages.get(f"{HOME}/index").json()["values"]["result"]]


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
    assert answer.status_code == 503 and "Traceback" not in answer.text
    assert pages.get(f"{HOME}/match/{sound.match.id}").status_code == pages.get(HOME).status_code == 200


def test_board_is_made_once_per_change(run, monkeypatch, unpaced):
    made = []
    index_text = board.index_text
    monkeypatch.setattr(board, "index_text", lambda *given: (made.append(given), index_text(*given))[1])
    pages = pages_of(run)
    for _ in range(3):
        assert pages.get(f"{HOME}/index").status_code == 200
    assert len(made) == 1
    os.utime(run / "run.db")
    pages.get(f"{HOME}/index")
    assert len(made) == 2


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
    for path in (HOME, home, f"{home}/1"):
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
