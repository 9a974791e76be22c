"""Row f1: which matches are written out, and the files."""

import json

import pytest

from benchmarks.experiments.case_studies import choose
from benchmarks.experiments.command import main
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.ladder import GAMES
from rating.store.records import Match, Record


def records(*pairs):
    return [Record(Match("bid_v0", number, pair, 0), None, (), "", 1, "") for number, pair in enumerate(pairs)]


def test_every_policy_is_in_as_many_matches_as_wanted():
    played = records(("a", "b"), ("b", "a"), ("a", "c"), ("c", "b"), ("d", "d"))
    assert [record.match.number for record in choose(played, 1)] == [0, 2, 4]
    assert [record.match.number for record in choose(played, 2)] == [0, 1, 2, 3, 4]
    assert choose([], 1) == []


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    words = ["--language", "zh", "--policy", "tests.rating.players:hostile", "--workers", "1"]
    assert main(PAPER, ["f1", *words, "--out", str(out / "first")]) == 0
    return out


@pytest.mark.slow
def test_every_game_has_its_transcript_in_the_language_asked_for(results):
    for game in GAMES:
        text = (results / "first" / f"f1-{game}.md").read_text(encoding="utf-8")
        assert "tests.rating.players:hostile" in text
        assert "### The end" in text
        assert "你" in text
    assert "谁是卧底" in (results / "first" / "f1-undercover_v0.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_holds_the_whole_run(results):
    page = (results / "first" / "f1-report.html").read_text(encoding="utf-8")
    played = json.loads((results / "first" / "f1.json").read_text(encoding="utf-8"))["runs"]["games"]["matches"]
    assert "<title>Transcripts of LLMArena" in page
    assert f"Matches: {played['finished']} finished." in page


def test_one_policy_alone_plays_itself(tmp_path, capsys):
    words = ["--alone", "--policy", "random@tictactoe_v0,bid_v0", "--workers", "1"]
    assert main(PAPER, ["f1", *words, "--out", str(tmp_path)]) == 0
    assert "random, random" in capsys.readouterr().out
    assert {path.name for path in tmp_path.glob("f1-*.md")} == {"f1-tictactoe_v0.md", "f1-bid_v0.md"}
