"""Win rates as undercover among a fixed field, and the cases to look at."""

import json
from dataclasses import replace

import pytest

from agents.policy import ScriptedPolicy
from benchmarks.experiments.command import main
from benchmarks.experiments.field import Case, field_cases
from benchmarks.experiments.runs import PlayedRun
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.undercover import (
    GAME,
    against,
    blank_rate,
    case_text,
    chosen_cases,
    course_table,
    ending,
    win_rate,
    win_table,
)
from llmarena_envs.undercover.game import CLUE
from rating.errors import RunError
from rating.stats.estimates import rate_estimate
from rating.store.records import FINISHED, VOID, Outcome, SeatOutcome

HOSTILE = "tests.benchmarks.llmarena.test_undercover:Hostile"
CARELESS = "tests.benchmarks.llmarena.test_undercover:Careless"
CLUE_TEXT = "``` <script>alert(1)</script> ![x](http://e.example) \u202e # h"


class Hostile(ScriptedPolicy):
    """Gives clues that would be markup, and says more than its move."""

    def __call__(self, view):
        if view.stage == CLUE:
            return f"Let me think: I may be the odd one.\n````\n# Heading\n\n{view.agent}: {CLUE_TEXT} {view.round} {view.agent}"
        return f"vote: {view.legal[0].target}"


class Careless(ScriptedPolicy):
    """Says its own word, which forfeits the match in the paper's treatment of bad replies."""

    def __call__(self, view):
        return f"{view.agent}: it is {view.word}" if view.stage == CLUE else f"vote: {view.legal[0].target}"


def case_of(number, reward=1.0, *, forfeit="", other="", status=FINISHED, turns=4, blank=0, found=0, votes=0):
    statistics = {"blank_clues": float(blank), "eliminated_round": float(found), "votes_received": float(votes)}
    own = SeatOutcome("a", reward, turns=turns, forfeit=forfeit, statistics=statistics, agent="player_0")
    rest = [SeatOutcome("x", -reward, agent=f"player_{seat}") for seat in range(1, 5)]
    rest[0] = replace(rest[0], forfeit=other)
    return Case(Outcome(GAME, number, number, status, (own, *rest)), own)


CASES = [
    case_of(0, 1.0, votes=2),
    case_of(1, -1.0, found=1, turns=2, blank=1, votes=4),
    case_of(2, -1.0, found=2, votes=3),
    case_of(3, -1.0, forfeit="illegal", turns=1),
    case_of(4, 0.0, other="illegal", turns=0),
    case_of(5, 0.0, status=VOID),
    case_of(6, 1.0, votes=1),
]


def test_an_own_forfeit_is_a_loss_and_anothers_no_match():
    assert [ending(case) for case in CASES if case.is_finished] == [
        "survived", "found", "found", "forfeited", "forfeited by another", "survived",
    ]  # fmt: skip
    assert win_rate(CASES) == rate_estimate(2, 5)
    assert win_rate([case_of(0, status=VOID)]) is None


def test_the_course_of_matches():
    table = course_table({"a": CASES}, "x", 2, {"random votes": 0.6})
    cells = dict(zip([column.title for column in table.columns], table.rows[0], strict=True))
    shares = ("survived, %", "forfeited, %", "forfeited by another, %", "found in round 1, %", "found in round 2, %")
    assert [round(cells[name].value * 6 / 100) for name in shares] == [2, 1, 1, 1, 1]
    assert cells["votes received in a match"].value == pytest.approx(10 / 6)
    assert cells["void matches"] == 1
    assert cells["wins against random votes"] == "not told apart"  # 2 of 5


def test_clues_are_every_other_turn():
    rate = blank_rate([case for case in CASES if case.is_finished])
    assert (rate.value, rate.n, rate.clusters) == (1 / 8, 8, 5)  # 2 + 1 + 2 + 1 + 0 + 2 clues
    assert blank_rate([]) is None


def test_which_side_of_the_line():
    assert against(rate_estimate(20, 100), 0.6) == "below"
    assert against(rate_estimate(80, 100), 0.6) == "above"
    assert against(rate_estimate(60, 100), 0.6) == "not told apart"
    assert against(None, 0.6) is None


def test_published_rates_are_printed_raw_and_corrected():
    table = win_table({"mine": rate_estimate(1, 4)}, "x", {"random votes": 0.6}, {"Qwen-14B-Chat": "mine"})
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["GPT-4"] == [27.0, 27.0, None]
    printed, corrected, measured = rows["Qwen-14B-Chat = mine"]
    assert (printed, corrected, measured.value) == (17.0, 24.0, 25.0)
    assert [column.source for column in table.columns] == ["", "published", "published", "measured"]
    assert "random votes: 60 %, exactly" in table.notes


def test_the_first_matches_of_every_kind_are_chosen():
    chosen = chosen_cases({"a": CASES}, 1)
    assert {number: how for number, (_, how) in chosen.items()} == {0: "survived", 1: "found", 3: "forfeited"}
    assert sorted(chosen_cases({"a": CASES}, 2)) == [0, 1, 2, 3, 6]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    out = tmp_path_factory.mktemp("undercover")
    flags = ["--smoke", "--policy", HOSTILE, CARELESS, "--workers", "1", "--matches", "10", "--out", str(out)]
    assert main(PAPER, ["undercover", *flags]) == 0
    return out


def test_a_smoke_run_gives_rates_and_the_line(played):
    report = json.loads((played / "undercover.json").read_text(encoding="utf-8"))
    wins, course = report["tables"]
    rows = {row["player"]: row["wins, % (measured)"] for row in wins["rows"]}
    assert {name: rate["n"] for name, rate in rows.items() if rate} == dict.fromkeys(
        ("random", "silent", "similarity", HOSTILE, CARELESS), 10
    )
    assert rows[CARELESS]["value"] == 0
    assert next(row for row in course["rows"] if row["player"] == CARELESS)["forfeited, % (measured)"]["value"] == 100
    assert "random votes: 60 %, exactly" in wins["notes"]
    assert (played / "undercover-wins.svg").read_text(encoding="utf-8").count("random votes") == 1


@pytest.mark.slow
def test_the_seat_under_test_is_the_undercover_in_every_match(played):
    run = PlayedRun(played / "undercover" / "field")
    for own in field_cases(run, GAME).values():
        for case in own:
            assert case.seat.statistics["role"] == 1
        seats = [case.seat.agent for case in own]
        assert all(seats.count(f"player_{seat}") == 2 for seat in range(5))


def test_players_text_is_no_markup_in_the_cases(played):
    text = (played / "undercover-cases.md").read_text(encoding="utf-8")
    assert "I may be the odd one" in text
    assert "\u202e" not in text
    assert "\\u202e" in text
    fence = ""
    for line in text.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.removesuffix("text")
        else:
            assert "<script" not in line
            assert "](http" not in line
            assert not line.startswith("# Heading")
    assert not fence


@pytest.mark.slow
def test_a_case_shows_words_clues_and_votes(played):
    run = PlayedRun(played / "undercover" / "field")
    chosen = chosen_cases(field_cases(run, GAME), 1)
    record = next(record for record in run.records(GAME) if record.match.number in chosen)
    case, how = chosen[record.match.number]
    text = case_text(record, case, how)
    clues = [turn for turn in record.turns if not turn.played.startswith("vote")]
    places = [text.index(json.dumps(turn.played.partition(": ")[2], ensure_ascii=False)) for turn in clues]
    assert places == sorted(places)
    for turn in record.turns:
        if turn.played.startswith("vote"):
            assert f"{turn.agent} -> {turn.played.removeprefix('vote: ')}" in text
    words = {turn.agent: turn.read.split('"')[1] for turn in record.turns}
    assert f"its word is `{words.pop(case.seat.agent)}`; the others' word is `{set(words.values()).pop()}`" in text


@pytest.mark.slow
def test_a_record_that_was_changed_is_damaged(played):
    run = PlayedRun(played / "undercover" / "field")
    cases = field_cases(run, GAME)
    record = next(iter(run.records(GAME)))
    case = next(case for own in cases.values() for case in own if case.outcome.number == record.match.number)
    for turns in (record.turns[1:], (*record.turns, record.turns[-1])):
        with pytest.raises(RunError, match="is damaged"):
            case_text(replace(record, turns=turns), case, "found")
