"""Descriptions and guesses at undercover: known rates, judges who fail, annotators who disagree, sheets that are wrong."""

import csv
import json
import shutil

import pytest

from agents.errors import ProviderError
from benchmarks.experiments.command import main
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.description_judge.case import DescriptionRequest
from benchmarks.llmarena.descriptions import Clue, accuracy, to_judge
from benchmarks.llmarena.opponent_modelling import Modelling, agreement_table, by_record, by_vote
from benchmarks.llmarena.players import AttributeJudge, Guesser
from llmarena_envs.undercover.game import VOTE, UndercoverView, Vote
from llmarena_envs.undercover.words import shipped_pairs
from rating.store.records import SeatOutcome

broken = {"judge": False}


def judge():
    """A judge who has no verdict on clues with the word "old", and says yes of all others."""

    def verdict(observation):
        if broken["judge"]:
            raise ProviderError("the line is dead")
        return "I cannot say." if "old" in observation["text"] else '{"verdict": "yes"}'

    return verdict


JUDGE = f"{__name__}:judge"


def run(out, *words):
    return main(PAPER, ["t3", "--smoke", "--out", str(out), *words])


def result(out):
    return json.loads((out / "t3.json").read_text(encoding="utf-8"))


def rows(report, name):
    (table,) = [table for table in report["tables"] if table["name"] == name]
    first = table["columns"][0]["title"]
    return {row[first]: row for row in table["rows"]}


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    path = tmp_path_factory.mktemp("t3")
    assert run(path) == 0
    return path


def fill(sheet, path, label):
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    for number, row in enumerate(table[1:]):
        row[-1] = label(number, row)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    return path


def sheet_of(out):
    (sheet,) = out.glob("t3-sheet-*.csv")
    return sheet


def seat(guesses, right, strict):
    return SeatOutcome(
        "anybody", 1.0, statistics={"guesses": guesses, "guesses_right": right, "guesses_strict": strict}
    )


def test_rates_of_guesses():
    modelling = Modelling({0: seat(2, 1, 0), 1: seat(1, 1, 1), 2: seat(2, 0, 0), 3: seat(0, 0, 0)})
    assert by_record(modelling, "guesses_right")[::3] == (pytest.approx(2 / 3), 3)
    assert by_record(modelling, "guesses_strict")[::3] == (pytest.approx(1 / 3), 3)
    assert by_vote(modelling, "guesses_right")[::3] == (pytest.approx(2 / 5), 5)
    assert by_vote(modelling, "guesses_strict")[::3] == (pytest.approx(1 / 5), 5)
    assert by_vote(modelling, "guesses_strict").clusters == 3


def test_accuracy_counts_every_clue_and_judges_each_once():
    clues = [
        Clue(0, "lemon", "sour"),
        Clue(1, "lemon", "sour"),
        Clue(1, "lemon", "blue"),
        Clue(2, "lemon", "?!"),
        Clue(2, "pear", "sour"),
    ]
    items = to_judge(clues, seed=0)
    assert sorted(items.values()) == [("lemon", "blue"), ("lemon", "sour"), ("pear", "sour")]
    verdicts = {item: {"sour": True, "blue": False}[clue] for item, (_, clue) in items.items()}
    assert accuracy(clues, verdicts)[::3] == (pytest.approx(3 / 5), 5)
    verdicts[clues[-1].item] = None
    found = accuracy(clues, verdicts)
    assert (found.value, found.n, found.clusters) == (pytest.approx(2 / 4), 4, 3)


def test_agreement_says_where_it_says_nothing():
    first = {f"c{number}": number % 2 == 0 for number in range(40)}
    few = {"c0": True, "c1": True, "c2": None, "elsewhere": False}
    table = agreement_table({"a": first, "b": dict(first), "few": few, "yes": dict.fromkeys(first, True)})
    found = {row[0]: row[1:] for row in table.rows}
    assert found["a and b"][0] == 40
    assert (found["a and b"][2].value, found["a and b"][3]) == (1, "")
    assert found["a and few"][0] == 2
    assert found["a and few"][3] == "fewer than 30 items"
    assert found["a and yes"][2].value == 0
    assert found["few and yes"][2] is None
    assert "undefined" in found["few and yes"][3]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_guesser_finds_the_other_word_of_its_pair(language):
    pair = shipped_pairs(language)[0]
    players = ("player_0", "player_1", "player_2")
    view = UndercoverView(
        players[0], True, (Vote(players[1]), Vote(players[2])), pair.a, VOTE, 1, players, clues=(), results=()
    )
    guesser, unsuspecting = Guesser(), Guesser(undercover=False)
    for player in (guesser, unsuspecting):
        player.reset(players[0], 0)
    assert guesser(view).splitlines()[1] == f"guess: player_1={pair.b}; player_2={pair.b}"
    vote, guess = unsuspecting(view).splitlines()
    assert f"{vote.removeprefix('vote: ')}={pair.b}" in guess
    assert guess.count(pair.a) == guess.count(pair.b) == 1


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.slow)])
def test_guesser_with_errors_is_wrong_at_their_rate(language):
    pair, players, n = shipped_pairs(language)[0], ("player_0", "player_1", "player_2"), 400
    view = UndercoverView(
        players[0], True, (Vote(players[1]), Vote(players[2])), pair.a, VOTE, 1, players, clues=(), results=()
    )
    careless, judge = Guesser(error=0.25), AttributeJudge()
    careless.reset(players[0], 0)
    judge.reset("judge_0", 0)
    right = sum(careless(view).count(f"={pair.b}") for _ in range(n)) / (2 * n)
    clues = [careless.clue(view) for _ in range(n)]
    true = [judge(DescriptionRequest(pair.a, clue)) == "Verdict: yes" for clue in clues]
    assert right == pytest.approx(0.75, abs=0.05)
    assert sum(true) / n == pytest.approx(0.75, abs=0.07)


@pytest.mark.slow
def test_the_judge_of_attributes_knows_the_clues_of_similarity(out):
    found = rows(result(out), "descriptions")
    accurate = "accuracy, %, judge attributes (measured)"
    assert found["similarity"][accurate]["value"] == found["guesser"][accurate]["value"] == 100
    assert found["random"][accurate]["value"] < 50
    assert found["silent"][accurate]["value"] == 0
    assert found["silent"]["blank clues"] == found["silent"]["clues"] == 5
    attributes = AttributeJudge()
    attributes.reset("judge_0", 0)
    assert attributes(DescriptionRequest("lemon", "a sour fruit")) == "Verdict: no"


@pytest.mark.slow
def test_the_rates_of_scripted_players(out):
    found = rows(result(out), "opponent-modelling")
    some, every = (f"guesses with {words} right, %" for words in ("at least one word", "all words"))
    measured = {
        player: tuple(found[player][f"{rate} (measured)"]["value"] for rate in (some, every))
        for player in ("guesser", "unsuspecting", "similarity")
    }
    assert measured == {"guesser": (100, 100), "unsuspecting": (100, 0), "similarity": (0, 0)}
    assert found["guesser"][f"{some} (measured)"]["n"] == 5
    assert (found["GPT-4"][f"{some} (published)"], found["GPT-4"][f"{some} (measured)"]) == (80, None)


@pytest.mark.slow
def test_a_sheet_is_blind_and_stays_when_it_was_filled_in(out, tmp_path):
    text = sheet_of(out).read_text(encoding="utf-8-sig")
    assert not any(name in text for name in ("similarity", "random", "guesser", "player"))
    assert run(tmp_path, "--run", str(out / "t3")) == 0
    fill(sheet_of(out), sheet_of(tmp_path), lambda number, row: "yes")
    before = sheet_of(tmp_path).read_bytes()
    assert run(tmp_path, "--run", str(out / "t3"), "--sheet", str(sheet_of(tmp_path))) == 0
    assert sheet_of(tmp_path).read_bytes() == before
    found = rows(result(tmp_path), "opponent-modelling")["random"]
    assert found["description accuracy, % (measured)"]["value"] == 100


@pytest.mark.slow
def test_annotators_decide_by_majority_and_ties_are_left_out(out, tmp_path):
    (tmp_path / "b").mkdir()
    first = fill(sheet_of(out), tmp_path / "one.csv", lambda number, row: "yes")
    second = fill(sheet_of(out), tmp_path / "b" / "one.csv", lambda number, row: "no" if number == 0 else "1")
    assert run(tmp_path / "out", "--run", str(out / "t3"), "--sheet", str(first), str(second)) == 0
    report = result(tmp_path / "out")
    found = rows(report, "descriptions")
    (undecided,) = [key for key in found["random"] if key.startswith("undecided, majority")]
    assert sum(row[undecided] for row in found.values()) >= 1
    pairs = rows(report, "agreement")
    assert len(pairs) == 3
    assert pairs["sheet one (1) and sheet one (2)"]["Cohen's kappa (measured)"]["value"] == 0


@pytest.mark.slow
def test_a_judge_without_a_verdict_abstains(out, tmp_path):
    shutil.copytree(out / "t3" / "games", tmp_path / "t3" / "games")
    assert run(tmp_path, "--judge", JUDGE) == 0
    with sheet_of(tmp_path).open(encoding="utf-8-sig", newline="") as file:
        old = sum("old" in row[1] + row[2] for row in list(csv.reader(file))[1:])
    found = rows(result(tmp_path), "descriptions")
    assert old > 0
    assert sum(row[f"undecided, judge {JUDGE}"] for row in found.values()) >= old
    assert found["similarity"][f"accuracy, %, judge {JUDGE} (measured)"]["value"] == 100


@pytest.mark.slow
def test_clues_of_all_seats_are_more(out, tmp_path):
    shutil.copytree(out / "t3" / "games", tmp_path / "t3" / "games")
    assert run(tmp_path, "--clues", "all_seats") == 0
    own, everybody = (rows(result(path), "descriptions")["silent"] for path in (out, tmp_path))
    assert own["clues"] == 5
    assert everybody["clues"] == 25
    assert everybody["accuracy, %, judge attributes (measured)"]["value"] == 80


def test_the_order_of_the_sheet_tells_nothing_of_who_spoke_first():
    clues = [Clue(0, "lemon", f"clue {number}") for number in range(20)]
    order = list(to_judge(clues, seed=0))
    assert order == list(to_judge(clues[::-1], seed=0))
    assert order != list(to_judge(clues, seed=1))
    assert order != [clue.item for clue in clues]


def test_without_a_match_there_is_nothing_to_show(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(broken, "judge", True)
    assert run(tmp_path, "--alone", "--policy", JUDGE) == 3
    assert "void" in capsys.readouterr().err
    assert rows(result(tmp_path), "guesses")[JUDGE]["void"] == 5
    assert rows(result(tmp_path), "opponent-modelling")[JUDGE]["description accuracy, % (measured)"] is None
    assert not list(tmp_path.glob("*.png"))
