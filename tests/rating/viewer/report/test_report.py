"""The report: complete, self-contained, and inert whatever players wrote."""

import asyncio
import base64
import json
import re
import zlib
from dataclasses import replace
from io import StringIO
from urllib.parse import unquote

import pytest

from rating.cli.report import write_report
from rating.play import run_directory
from rating.play.runner import Runner
from rating.schemes.figures import Trajectories
from rating.store.file import open_file
from rating.store.outcome import Outcome, SeatOutcome
from rating.store.state import RunState
from rating.viewer.report import replays
from rating.viewer.report.figures import trajectories
from rating.viewer.report.page import RunContents, write_page
from rating.viewer.report.plots import Plot
from rating.viewer.report.sections import judges_sections

RUN = """
seed = 4
workers = 1
[stop]
min_matches = 6
max_matches = 20
[turns]
unparsable = "forfeit"
[[environment]]
name = "tictactoe_v0"
[[policy]]
name = "<b>bad</b> & $x^2$ </script>"
spec = "tests.rating.players:hostile"
[[policy]]
spec = "random"
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("report") / "run"
    run, store = run_directory.create(directory, RUN, "run.toml")
    asyncio.run(Runner(run, store).run())
    store.close()
    return directory


@pytest.fixture(scope="module")
def page(directory):
    return write_report(directory, directory / "report.html").read_text(encoding="utf-8")


def unpack(packed):
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def chunks(page):
    packed = re.findall(r'class="chunk">([^<]*)</script>', page)
    return [unpack(chunk) for chunk in packed]


def index(page):
    return unpack(re.search(r'id="index">([^<]*)</script>', page)[1])


def test_nothing_of_a_player_reaches_the_markup(page):
    assert "<b>bad" not in page
    assert "alert(" not in page
    assert "onerror" not in page
    assert page.count("<script") == page.count("</script>") == 2 + len(chunks(page))


def test_nothing_is_loaded_from_anywhere(page):
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert [link for link in links if not link.startswith("#")] == []
    assert "default-src 'none'" in page


def test_every_match_is_there_turn_by_turn(page):
    columns, turns = index(page)["columns"], chunks(page)
    assert columns["number"] == list(range(24))
    assert columns["turns"] == [len(match["turns"]) for pack in turns for match in pack]
    for match in (match for pack in turns for match in pack):
        played = match["turns"]
        assert len(played) > 0
        assert all(turn["read"] and turn["attempts"] for turn in played)
    replies = {
        attempt["reply"] for pack in turns for match in pack for turn in match["turns"] for attempt in turn["attempts"]
    }
    assert any("<script>alert(1)</script>" in reply for reply in replies)


def test_rules_leaderboard_matrix_and_figures_are_there(directory, page):
    assert "three rows" in index(page)["rules"]["tictactoe_v0"]["player_0"]
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; $x^2$ &lt;/script&gt;" in page
    assert page.count("<svg") == len(list((directory / "plots").glob("*.svg"))) == 6
    assert "refusal 24" in page
    assert "0 / 0 / 24" in page


def test_seal_and_digest_are_shown(directory, page):
    store = open_file(directory / "run.db")
    assert f"Seal of the record, without costs: {store.sealed}." in page
    assert f"Digest of play: {store.digest()}." in page
    store.set_fact("more", "")
    unsealed = write_report(directory, directory / "unsealed.html").read_text(encoding="utf-8")
    assert "Seal of the record, without costs: none" in unsealed
    store.close()


def test_the_move_is_shown_as_it_is_written(page):
    turns = [turn for pack in chunks(page) for match in pack for turn in match["turns"]]
    assert {turn["played"][:4] for turn in turns if turn["action"] is not None} == {"X: ("}
    assert {turn["played"] for turn in turns if turn["action"] is None} == {""}


def test_the_page_is_written_while_the_matches_are_read(directory):
    read, waiting = 0, []

    def records(record):
        nonlocal read
        for number in range(500):
            read += 1
            yield replace(record, match=replace(record.match, number=number))

    class File:
        def write(self, piece):
            if 'class="chunk"' in piece:
                waiting.append(read)

    store = open_file(directory / "run.db")
    run = RunContents("title", 0, [], {}, None, [], {"finished": 500}, RunState(store.facts()), "", "")
    write_page(run, records(next(store.records())), File())
    store.close()
    assert waiting == list(range(50, 501, 50))


def test_matches_without_a_result_are_among_those_counted():
    page = StringIO()
    statuses = {"finished": 5, "void": 3, "undecided": 2}
    write_page(RunContents("title", 0, [], {}, None, [], statuses, RunState({}), "", ""), [], page)
    assert "Matches: 5 finished, 2 undecided, 3 void." in page.getvalue()


@pytest.mark.slow
def test_long_matches_are_packed_apart(directory, monkeypatch):
    monkeypatch.setattr(replays, "_LARGE", 1)
    page = write_report(directory, directory / "apart.html").read_text(encoding="utf-8")
    assert [len(pack) for pack in chunks(page)] == [1] * 24
    assert index(page)["columns"]["place"] == [0] * 24


@pytest.mark.slow
def test_positions_of_the_first_matches_are_drawn(directory, page, monkeypatch):
    matches = [match for pack in chunks(page) for match in pack]
    assert all(match["drawn"] and len(match["pictures"]) == len(match["turns"]) + 1 for match in matches)
    turns = [len(match["turns"]) for match in matches]
    monkeypatch.setattr(replays, "DRAWN_TURNS", sum(turns[:7]))
    fewer = write_report(directory, directory / "fewer.html").read_text(encoding="utf-8")
    assert [match["drawn"] for pack in chunks(fewer) for match in pack] == [True] * 7 + [False] * 17
    assert {len(match["pictures"]) for match in chunks(fewer)[0][7:]} == {0}


def test_a_match_that_cannot_be_played_again_is_shown_without_pictures(directory):
    store = open_file(directory / "run.db")
    record = next(store.records())
    gone = replace(record, match=replace(record.match, environment="nobody.knows"))
    (pack,) = replays.Replays([gone], {}, {}, {}).chunks()
    store.close()
    (match,) = unpack(pack)
    assert match["turns"] and not match["pictures"] and "nobody" in match["missing"]


def test_a_figure_does_not_grow_with_its_run():
    def drawn(length):
        history = {"a": [(number, 25 + number % 7, 8.0) for number in range(length)]}
        return Plot("game_v0", "course", "mu", trajectories(Trajectories(history, "mu"))).svg

    assert len(drawn(20_000)) < 1.2 * len(drawn(350))
    assert drawn(10) != drawn(11)


@pytest.mark.parametrize(("step", "rows", "note"), [(0.05, 7, "rounded to whole numbers"), (1.0, 0, "got 60")])
def test_many_different_ratings_do_not_keep_a_report_from_being_made(step, rows, note):
    outcomes = [
        Outcome(
            "simulation_v0",
            number,
            number,
            "finished",
            tuple(
                SeatOutcome("exact", 0.0, agent=agent, rated=False, statistics={"rating": 1 + number * step})
                for agent in ("judge_0", "judge_1")
            ),
        )
        for number in range(60)
    ]
    shown = judges_sections("simulation_v0", outcomes)[0].shown
    assert len(shown.rows) == rows and any(note in line for line in shown.notes)


def test_every_link_of_the_page_leads_to_a_heading_of_its_own(page):
    ids = re.findall(r'<h2 id="([^"]*)"', page)
    links = re.findall(r'<li><a href="#([^"]*)"', page)
    assert len(links) > 3 and sorted(map(unquote, links)) == sorted(set(ids)) == sorted(ids)
    assert all(one == "matches" or one.startswith("section ") for one in ids)  # an environment may be called "list"
