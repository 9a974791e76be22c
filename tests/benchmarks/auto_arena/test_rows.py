"""The rows on rankings: smoke runs, one run shared by several rows, imported scores, refused input, and made battles."""

import csv
import json

import pytest

from benchmarks.auto_arena import discussion, first_answers, newcomer
from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.auto_arena.correlation import correlate
from benchmarks.auto_arena.pool import NAMES, initial_scores, late, strengths
from benchmarks.auto_arena.tournaments import TournamentOptions, plan_tournament, read_tournament, scores_to_compare
from benchmarks.experiments.command import main
from benchmarks.experiments.runs import PlayedRun, play_runs
from llmarena_envs.core.options import OptionError
from rating.cli.process import Interruptions
from rating.schedules.swiss import TournamentRules
from rating.schemes.tournament import Tournament
from rating.store.records import FINISHED, UNDECIDED, VOID, Match, Outcome, SeatOutcome
from tests.rating.made_outcomes import Players
from tests.rating.made_schemes import made_setting


def lines(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def tables(directory, row):
    report = json.loads((directory / f"{row}.json").read_text(encoding="utf-8"))
    return {table["name"]: table for table in report["tables"]}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The results of the row t1, whose tournament serves other rows too."""
    out = tmp_path_factory.mktemp("t1")
    assert main(PAPER, ["t1", "--per-pairing", "4", "--out", str(out)]) == 0
    return out


@pytest.mark.slow
@pytest.mark.parametrize("row", ["tournament", "discussion", "t4"])
def test_one_tournament_serves_several_rows(row, played, tmp_path, capsys):
    assert main(PAPER, [row, "--run", str(played / "t1"), "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    rated = lines(tmp_path / f"{row}-ratings.csv")
    assert sorted(line["player"] for line in rated) == sorted(NAMES[:7])


@pytest.mark.slow
def test_ratings_equal_the_leaderboards(played):
    found = read_tournament(PlayedRun(played / "t1" / "tournament"))
    for row in found.board.rows:
        assert found.ratings["half"].values()[row.policy] == pytest.approx(row.rating.value)
        assert found.ratings["drop"].values()[row.policy] == pytest.approx(row.values["rating_without_ties"].value)
    assert found.prior == initial_scores(7, TournamentOptions().seed)
    assert found.board.facts["path"][-1].ratings == pytest.approx(found.ratings["half"].values())


@pytest.mark.slow
def test_the_log_of_a_tournament_has_its_pairings_and_committees(played, tmp_path, capsys):
    assert main(PAPER, ["tournament", "--run", str(played / "t1"), "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    log = lines(tmp_path / "tournament-pairings.csv")
    assert [line["round (measured)"] for line in log] == list("111222333")
    for line in log:
        committee = line["committee, best first (measured)"].split(", ")
        assert len(committee) == 5
        assert not {line["first (measured)"], line["second (measured)"]} & set(committee)
        assert sum(map(int, line["won by first/tied/won by second (measured)"].split("/"))) == 4
    counts = lines(tmp_path / "tournament-battles.csv")
    assert (counts[-1]["pairings"], counts[-1]["battles (measured)"]) == ("9", "36")


@pytest.mark.slow
def test_a_tournament_is_compared_with_the_scores_of_a_file(played, tmp_path, capsys):
    scores = tmp_path / "human.csv"
    scores.write_text("policy,score\nash,1\nbeech,2\ncedar,3\ndogwood,\nsomebody else,9\n")
    words = ["t1", "--run", str(played / "t1"), "--scores", str(scores), "--out", str(tmp_path)]
    assert main(PAPER, words) == 0
    capsys.readouterr()
    rating = {line["player"]: float(line["ties as halves (measured)"]) for line in lines(tmp_path / "t1-ratings.csv")}
    found = correlate(rating, {"ash": 1, "beech": 2, "cedar": 3})
    first = tables(tmp_path, "t1")["measured"]["rows"][0]
    assert first["Spearman, %, over battles (measured)"]["n"] == 3
    assert first["Spearman, %, over battles (measured)"]["value"] == pytest.approx(100 * found.spearman)
    assert tables(tmp_path, "t1")["measured"]["title"] == "correlation with the ranking in human.csv"


@pytest.mark.slow
def test_published_model_shares_its_policys_line(played, tmp_path, capsys):
    words = ["f7", "--run", str(played / "t1"), "--same", "gpt-4o-2024-05-13=ash", "--out", str(tmp_path)]
    assert main(PAPER, words) == 0
    capsys.readouterr()
    first = lines(tmp_path / "t4-published-ratings.csv")[0]
    assert first["Elo, list of 17 models (published)"] == "1197.26"
    assert float(first["Elo (measured)"]) > 800


@pytest.mark.slow
def test_score_file_without_scores_is_refused(played, tmp_path, capsys):
    scores = tmp_path / "scores.csv"
    scores.write_text("policy,score\nashes,1\nbeach,2\n")
    assert main(PAPER, ["t1", "--run", str(played / "t1"), "--scores", str(scores), "--out", str(tmp_path / "o")]) == 2
    assert "did you mean 'ashes'" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["f5", "--run", "{run}"], "expected a tournament with an added policy"),
        (["t2", "--run", "{run}"], "expected a run in each of"),
        (["t1", "--players", "6", "--min-judges", "5"], "judges"),
    ],
)
def test_impossible_options_are_refused_before_play(words, said, played, tmp_path, capsys):
    words = [word.format(run=played / "t1") for word in words]
    assert main(PAPER, [*words, "--out", str(tmp_path / "o")]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_run_without_discussion_cannot_be_compared(tmp_path, capsys):
    options = TournamentOptions(per_pairing=1)
    plan = {"tournament": plan_tournament(options, discussion=False)}
    with Interruptions() as interruptions:
        assert play_runs(tmp_path, plan, interruptions) == 0
    capsys.readouterr()
    run = PlayedRun(tmp_path / "tournament")
    with pytest.raises(OptionError, match="discussion = True"):
        discussion.measure({"tournament": run}, options)
    with pytest.raises(OptionError, match="judge_initial_only = True"):
        first_answers.check_judged_on(run, first_answers=True)


def battle(number, side, first, final, status=FINISHED):
    """A battle of a, on side ``side``, with b: winners before and after the discussion (A, B, tie or none)."""
    common = {"winner_first": first, "winner": final}
    seats = (
        SeatOutcome("a", 0.0, statistics={"side": side, **common}, agent="debater_0"),
        SeatOutcome("b", 0.0, statistics={"side": 1 - side, **common}, agent="debater_1"),
        SeatOutcome("judge", 0.0, agent="judge_0", rated=False),
    )
    return Outcome("debate_v0", number, number, status, seats)


def test_battles_are_decided_by_first_verdicts_or_final_ones():
    log = [battle(0, 0, 0, 1), battle(1, 1, 0, 0), battle(2, 0, 2, 0), battle(3, 1, -1, 1), battle(4, 0, 0, 0, VOID)]
    first, final = (discussion.decided_by(log, key) for key in (discussion.OFF, discussion.ON))
    assert [outcome.seats[0].reward for outcome in first] == [1, -1, 0, 0]
    assert [outcome.seats[1].reward for outcome in final] == [1, 1, -1, -1]
    assert [outcome.status for outcome in first] == [FINISHED, FINISHED, FINISHED, UNDECIDED]
    assert all(outcome.seats[2].reward == 0 for outcome in final)
    rates = {row[0]: row[1] for row in discussion.change_table(log).rows}
    assert {name: rate.value for name, rate in rates.items()} == {
        "another winner, a tie counted as one": 75,
        "the other side instead of one": 25,
        "a side instead of a tie": 25,
        "a tie instead of a side": 0,
    }
    assert all(rate.n == 4 for rate in rates.values())


def made_board(newcomers, pairs):
    """The leaderboard of pairings of twenty battles each."""
    players = Players({"a": 200.0, "b": 0.0, "c": -200.0, "n": 100.0})
    battles = enumerate(pair for pair in pairs for _ in range(20))
    rules = TournamentRules(newcomers=newcomers, questions=20)
    scheme = Tournament(made_setting(policies="abcn", tournament=rules))
    return scheme.board(players.play(Match("game_v0", n, tuple(pair), n) for n, pair in battles))


def test_the_path_of_a_newcomer_begins_where_it_came():
    board = made_board(("n",), ["ab", "bc", "ac", "na", "nb"])
    assert newcomer.arrivals(board) == {"n": (3, 5)}
    (row,) = newcomer.order_table(board, newcomer.arrivals(board)).rows
    cells = dict(zip((column.title for column in newcomer.order_table(board, {"n": (3, 5)}).columns), row, strict=True))
    assert (cells["newcomer"], cells["pairings"]) == ("n", 2)
    assert cells["order before, best first"] == "a, b, c" == cells["order after, without the newcomer"]
    assert cells["pairs in another order"] == "0 / 3"
    table = newcomer.path_table(board, "n", 3, 5)
    assert [line[0] for line in table.rows] == ["before", "against a", "against b"]
    own = [column.title for column in table.columns].index("n")
    assert table.rows[0][own] is None
    assert table.rows[-1][own] == board.facts["path"][-1].ratings["n"]


def test_newcomer_has_no_pairings_after_meeting_the_next_one():
    board = made_board(("c", "n"), ["ab", "ca", "nc", "na"])
    assert newcomer.arrivals(board) == {"c": (1, 2), "n": (2, 4)}


def test_shift_of_all_ratings_is_no_move():
    before = {"a": 1100.0, "b": 1000.0, "c": 900.0}
    after = {"a": 1090.0, "b": 990.0, "c": 880.0, "n": 1040.0}
    assert newcomer.moved(before, after) == pytest.approx({"a": 10 / 3, "b": 10 / 3, "c": 20 / 3})


def test_newcomer_without_matches_is_skipped():
    assert newcomer.arrivals(made_board(("n",), ["ab", "bc", "ac"])) == {}


def test_pool_order_is_known_about_as_well_as_by_a_benchmark():
    assert sorted(strengths(18), key=strengths(18).get, reverse=True) == list(NAMES) == sorted(NAMES)
    found = [correlate(initial_scores(17, seed), strengths(17)).spearman for seed in range(50)]
    assert 0.85 < sum(found) / len(found) < 0.95
    assert late(17, 8) == list(NAMES[1:17:2])


def test_scores_to_compare_takes_two_policies_or_more(tmp_path):
    assert scores_to_compare(TournamentOptions(), [NAMES[0], "other"]) is None
    assert scores_to_compare(TournamentOptions(), NAMES[:2]).values.keys() == set(NAMES[:2])
    path = tmp_path / "human.csv"
    path.write_text("policy,score\nash,1\nbeech,2\n")
    options = TournamentOptions(scores=str(path))
    assert scores_to_compare(options, NAMES[:2]).values == {"ash": 1, "beech": 2}
    with pytest.raises(OptionError, match="expected scores of two policies"):
        scores_to_compare(options, ["ash", "other"])
