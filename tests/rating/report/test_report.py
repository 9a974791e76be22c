"""The report: complete, self-contained, and inert whatever players wrote."""

import asyncio
import base64
import json
import re
import zlib

import pytest

from rating.commands.read import write_report
from rating.running import run_directory
from rating.running.runner import Runner

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
def page(tmp_path_factory):
    directory = tmp_path_factory.mktemp("report") / "run"
    config, store = run_directory.create(directory, RUN, "run.toml")
    asyncio.run(Runner(config, store).run())
    store.close()
    return write_report(directory, directory / "report.html").read_text(encoding="utf-8")


def chunks(page):
    packed = re.findall(r'class="chunk">([^<]*)</script>', page)
    return [json.loads(zlib.decompress(base64.b64decode(chunk))) for chunk in packed]


def index(page):
    return json.loads(re.search(r'type="application/json" id="index">(.*?)</script>', page, re.DOTALL)[1])


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
    matches, turns = index(page)["matches"], chunks(page)
    assert len(matches) == 20
    for match in matches:
        played = turns[match["chunk"]][match["place"]]
        assert len(played) == match["turns"] > 0
        assert all(turn["read"] and turn["attempts"] for turn in played)
    replies = {attempt["reply"] for pack in turns for match in pack for turn in match for attempt in turn["attempts"]}
    assert any("<script>alert(1)</script>" in reply for reply in replies)


def test_rules_leaderboard_matrix_and_figures_are_there(page):
    assert "three rows" in index(page)["rules"]["tictactoe_v0"]["player_0"]
    assert "&lt;b&gt;bad&lt;/b&gt; &amp; $x^2$ &lt;/script&gt;" in page
    assert page.count("<svg") == 2
    assert "refusal 20" in page
    assert "0 / 0 / 20" in page
