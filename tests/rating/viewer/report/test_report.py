"""The report: complete, self-contained, and inert with hostile text."""

import base64
import json
import re
import zlib
from contextlib import closing
from dataclasses import replace
from urllib.parse import unquote

import pytest

from rating.schemes.figures import Trajectories
from rating.store.location import open_file
from rating.store.records import Outcome, SeatOutcome
from rating.viewer.report import replays
from rating.viewer.report.contents import EMPTY
from rating.viewer.report.figures import trajectories
from rating.viewer.report.page import write_page
from rating.viewer.report.sections import judges_sections
from rating.viewer.report.write import write_report
from tests.rating.runs import play_run, run_file

RUN = run_file(
    "tictactoe_v0",
    policies=('name = "<b>bad</b> & $x^2$ </script>"\nspec = "tests.rating.players:hostile"', "random"),
    stop='min_matches = 6\nmax_matches = 20\n[turns]\nunparsable = "forfeit"',
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return play_run(tmp_path_factory.mktemp("report") / "run", RUN)


@pytest.fixture
def store(directory):
    with closing(open_file(directory / "run.db")) as store:
        yield store


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


def matches(page):
    return [restored(match, pack["pieces"]) for pack in chunks(page) for match in pack["matches"]]


def restored(match, pieces):
    """Returns a match with its texts, as the script of the page puts them together."""

    def joined(runs, separator):
        parts = [
            piece for first, count in zip(runs[::2], runs[1::2], strict=True) for piece in pieces[first : first + count]
        ]
        return separator.join(parts)

    turns = [{**turn, "read": joined(turn["read"], "\n")} for turn in match["turns"]]
    return {**match, "turns": turns, "pictures": [joined(runs, "><") for runs in match["pictures"]]}


def turns(page):
    return [turn for match in matches(page) for turn in match["turns"]]


def test_report_hostile_text_is_no_markup(page):
    assert not any(mark in page for mark in ("<b>bad", "alert(", "onerror"))
    assert page.count("<script") == page.count("</script>") == 2 + len(chunks(page))
    assert any("<script>alert(1)</script>" in attempt["reply"] for turn in turns(page) for attempt in turn["attempts"])


def test_report_loads_nothing_from_elsewhere(page):
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert [link for link in links if not link.startswith("#")] == []
    assert "default-src 'none'" in page


def test_report_holds_every_match_turn_by_turn(page):
    columns = index(page)["columns"]
    assert columns["number"] == list(range(24))
    assert columns["turns"] == [len(match["turns"]) for match in matches(page)] and all(columns["turns"])
    assert all(turn["read"] and turn["attempts"] for turn in turns(page))
    assert {turn["played"][:4] for turn in turns(page) if turn["action"] is not None} == {"X: ("}
    assert {turn["played"] for turn in turns(page) if turn["action"] is None} == {""}


def test_report_has_rules_leaderboard_matrix_and_figures(page):
    assert "three rows" in index(page)["rules"]["tictactoe_v0"]["player_0"]
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; $x^2$ &lt;/script&gt;" in page
    assert page.count("<figure><svg") == 5
    assert page.count('<td class="bar"><svg') == 2
    assert "refusal 24" in page
    assert "0 / 0 / 24" in page


def test_report_shows_seal_and_digest(directory, page, store):
    assert f"Seal of the record, without costs: {store.sealed}." in page
    assert f"Digest of play: {store.digest()}." in page
    assert "Seed 4. Matches: 24 finished. " in page
    store.set_fact("more", "")
    unsealed = write_report(directory, directory / "unsealed.html").read_text(encoding="utf-8")
    assert "Seal of the record, without costs: none" in unsealed


def test_report_is_written_while_matches_are_read(store):
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

    write_page(EMPTY, replays.Replays(records(next(store.records())), {}, {}, {}), File())
    assert waiting == list(range(100, 501, 100))


@pytest.mark.slow
def test_report_packs_long_matches_apart(directory, monkeypatch):
    monkeypatch.setattr(replays, "_LARGE", 1)
    page = write_report(directory, directory / "apart.html").read_text(encoding="utf-8")
    assert [len(pack["matches"]) for pack in chunks(page)] == [1] * 24
    assert index(page)["columns"]["place"] == [0] * 24


@pytest.mark.slow
def test_report_draws_positions_of_the_first_matches(directory, page, monkeypatch):
    assert all(match["drawn"] and len(match["pictures"]) == len(match["turns"]) + 1 for match in matches(page))
    monkeypatch.setattr(replays, "DRAWN_TURNS", sum(len(match["turns"]) for match in matches(page)[:7]))
    fewer = write_report(directory, directory / "fewer.html").read_text(encoding="utf-8")
    assert [match["drawn"] for match in matches(fewer)] == [True] * 7 + [False] * 17
    assert not any(match["pictures"] for match in matches(fewer)[7:])


def test_report_failed_replay_has_no_pictures(store):
    record = next(store.records())
    gone = replace(record, match=replace(record.match, environment="unknown.module"))
    (pack,) = replays.Replays([gone], {}, {}, {}).chunks()
    (match,) = unpack(pack)["matches"]
    assert match["turns"] and not match["pictures"] and "unknown.module" in match["missing"]


def test_report_figure_size_does_not_grow_with_the_run():
    def drawn(length):
        history = {"a": [(number, 25 + number % 7, 8.0) for number in range(length)]}
        return trajectories(Trajectories(history, "mu"), "title")

    assert len(drawn(20_000)) < 1.2 * len(drawn(350))
    assert drawn(10) != drawn(11)


@pytest.mark.parametrize(("step", "rows", "note"), [(0.05, 7, "rounded to whole numbers"), (1.0, 0, "got 60")])
def test_judges_section_of_many_ratings_is_rounded_or_empty(step, rows, note):
    def rated(number):
        statistics = {"rating": 1 + number * step}
        judges = (
            SeatOutcome("exact", 0.0, agent=f"judge_{seat}", rated=False, statistics=statistics) for seat in (0, 1)
        )
        return Outcome("simulation_v0", number, number, "finished", tuple(judges))

    shown = judges_sections("simulation_v0", [*map(rated, range(60))])[0].shown
    assert len(shown.rows) == rows and any(note in line for line in shown.notes)


def test_report_every_link_has_its_own_heading(page):
    ids = re.findall(r'<(?:h2|div)[^>]* id="([^"]*)"', page)
    links = re.findall(r'<li><a href="#([^"]*)"', page)
    assert len(links) > 3 and {*map(unquote, links)} <= {*ids} and len({*ids}) == len(ids)
    named = [one for one in ids if one not in ("matches", "record", "list", "match")]
    assert all(one.startswith(("section ", "tab ")) for one in named)  # an environment can be called "list"
