"""Missed chances: matches whose mistakes are known by hand, replies that are no moves, positions, and a smoke run."""

import csv
import json
from dataclasses import replace

import pytest

from agents.baselines.solved import SolvedConnectFour, SolvedTicTacToe
from agents.errors import ProviderError
from benchmarks.experiments.command import main
from benchmarks.experiments.runs import PlayedRun
from benchmarks.llmarena import missed_chances
from benchmarks.llmarena.__main__ import PAPER
from benchmarks.llmarena.boards import Position, draw, to_text
from benchmarks.llmarena.missed_chances import Kind
from benchmarks.llmarena.positions import positions
from llmarena_envs.catalogue import make_environment
from rating.cli import main as llmarena
from rating.errors import RunError

TIC_TAC_TOE, CONNECT_FOUR = "tictactoe_v0", "connect_four_v0"


def play(directory, game, policy, options, *, matches=2, turns="preset = 'standard'"):
    """Plays a policy with itself and returns the run."""
    run_file = directory / "run.toml"
    run_file.write_text(
        f"executor = 'asyncio'\n{turns}\n[[environment]]\nname = '{game}'\nscheme = 'self_play'\noptions = {options}\n"
        f"[[policy]]\nspec = '{policy}'\nname = 'it'\n[stop]\nmatches = {matches}\n"
    )
    assert llmarena(["run", str(run_file), "--out", str(directory / "run")]) == 0
    return PlayedRun(directory / "run")


def counts(tally):
    return {kind: (tally.possible(kind), tally.missed(kind)) for kind in Kind}


def test_tic_tac_toe_by_hand(tmp_path):
    # X1 O2 X3 O4 X5 O6 X7: O2 loses (only the centre holds), X3 gives the win away, O4 loses again, and X5 makes two threats.
    run = play(tmp_path, TIC_TAC_TOE, "first_legal", "{ random_opening = 0 }", matches=3)
    tally = missed_chances.count(run, TIC_TAC_TOE, SolvedTicTacToe(), 5)["it"]
    assert (tally.turns, tally.moves, tally.illegal, tally.unstoppable, tally.undecided) == (21, 21, 0, 3, 0)
    assert counts(tally) == {Kind.WIN: (3, 0), Kind.BLOCK: (0, 0), Kind.GIVEN_AWAY: (9, 3), Kind.LOST: (18, 6)}
    assert (tally.rate(Kind.LOST).n, tally.rate(Kind.LOST).clusters) == (18, 3)
    assert tally.rate(Kind.BLOCK) is None
    given_away = tally.positions[Kind.GIVEN_AWAY][0]
    assert (given_away.board, given_away.mark, given_away.turn, given_away.played) == ("XO_______", "X", 2, 2)
    assert set(given_away.better) == {3, 4, 6}
    assert [position.turn for position in tally.positions[Kind.LOST]] == [1, 3, 1, 3, 1]
    assert tally.positions[Kind.LOST][0].better == (4,)


def test_connect_four_by_hand(tmp_path):
    # Column after column is filled: X has three along the bottom after move 13, and is let win only with move 19.
    run = play(tmp_path, CONNECT_FOUR, "first_legal", "{ random_opening = 0 }", matches=1)
    tally = missed_chances.count(run, CONNECT_FOUR, SolvedConnectFour(2), 2)["it"]
    assert (tally.turns, tally.undecided) == (19, 16)  # decided: where X can win at once
    assert counts(tally)[Kind.WIN] == (3, 2)
    assert counts(tally)[Kind.BLOCK] == (3, 3)
    first = tally.positions[Kind.BLOCK][0]
    assert (first.turn, first.mark, first.better, first.played) == (13, "O", (38,), 30)
    assert len(tally.positions[Kind.BLOCK]) == 2
    assert [position.turn for position in tally.positions[Kind.WIN]] == [14, 16]
    assert not tally.positions[Kind.LOST]  # those stand under missed blocks


def test_table_of_no_matches_is_empty(tmp_path):
    run = play(tmp_path, TIC_TAC_TOE, "first_legal", "{ random_opening = 0 }")
    result = missed_chances.measure({"games": run}, missed_chances.Options())
    at_hand, solved = result.tables
    row = dict(zip([column.title for column in at_hand.columns], at_hand.rows[0], strict=True))
    assert (row["wins at hand"], row["missed wins"], row["missed wins, %"].value) == (2, 0, 0)
    assert (row["blocks needed"], row["missed blocks"], row["missed blocks, %"]) == (0, None, None)
    errors = solved.rows[0][4]
    assert (*solved.rows[0][2:4], errors.value, errors.clusters) == (6, 2, pytest.approx(100 / 3), 2)
    assert errors.low is errors.high is None  # two matches tell next to nothing of others


READER = "benchmarks.llmarena.players:Reader"  # without the list of legal moves it plays any cell, taken or not
FORFEIT = "preset = 'llmarena'"
HELP = "turns = { reasks = 0, illegal = 'random_legal', unparsable = 'random_legal' }"


@pytest.mark.parametrize("turns", [FORFEIT, HELP])
def test_replies_that_are_no_moves_are_no_missed_chances(tmp_path, turns):
    run = play(tmp_path, TIC_TAC_TOE, READER, "{ hint = false, random_opening = 3 }", matches=12, turns=turns)
    tally = missed_chances.count(run, TIC_TAC_TOE, SolvedTicTacToe(), 5)["it"]
    seats = [seat for outcome in run.outcomes(TIC_TAC_TOE) for seat in outcome.seats]
    helped = sum(seat.fallbacks for seat in seats)
    assert helped > 5
    assert tally.turns - tally.moves == helped
    assert tally.illegal == sum(seat.failures.get("illegal", 0) for seat in seats) == helped
    assert tally.turns == sum(seat.turns for seat in seats)
    own = [(turn, view) for record in run.records(TIC_TAC_TOE) for turn, view in positions(record) if not turn.fallback]
    assert tally.possible(Kind.WIN) == sum(bool(SolvedTicTacToe().winning(view.board, view.mark)) for _, view in own)


@pytest.mark.parametrize(
    ("game", "options"),
    [(TIC_TAC_TOE, "{ random_opening = 4 }"), (CONNECT_FOUR, "{ random_opening = 5, language = 'zh' }")],
)
def test_positions_are_those_that_the_players_read(tmp_path, game, options):
    run = play(tmp_path, game, "random", options)
    for record in run.records(game):
        codec = make_environment(game, record.match.options).unwrapped.codec
        seen = list(positions(record))
        assert [turn for turn, _ in seen] == list(record.turns)
        assert [codec.observation(view) for _, view in seen] == [turn.read for turn in record.turns]


@pytest.mark.parametrize(
    "change",
    [
        {"action": 99},
        {"action": 5.0},
        {"action": "5"},
        {"action": None},
        {"agent": "player_1"},
        {"agent": "?"},
        {"fallback": "forfeit"},
    ],
)
def test_a_record_that_is_no_match_is_refused(tmp_path, change):
    (record, *_) = play(tmp_path, TIC_TAC_TOE, "random", "{ random_opening = 0 }").records(TIC_TAC_TOE)
    damaged = replace(record, turns=(replace(record.turns[0], **change), *record.turns[1:]))
    with pytest.raises(
        RunError, match=rf"match {record.match.id}: turn 0: expected a legal move of the player to move"
    ):
        list(positions(damaged))


def test_match_with_moves_after_its_end_is_refused(tmp_path):
    (record, *_) = play(tmp_path, TIC_TAC_TOE, "random", "{ random_opening = 0 }").records(TIC_TAC_TOE)
    with pytest.raises(RunError, match="expected a legal move"):
        list(positions(replace(record, turns=record.turns * 2)))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    assert main(PAPER, ["missed", "--smoke", "--matches", "30", "--out", str(out)]) == 0
    return out


def read_table(path):
    return {line["player"]: line for line in csv.DictReader(path.read_text().splitlines())}


@pytest.mark.slow
@pytest.mark.parametrize("game", [TIC_TAC_TOE, CONNECT_FOUR])
def test_greedy_and_minimax_miss_no_chance_and_random_does(results, game):
    rows = read_table(results / f"missed-{game}-at-hand.csv")
    for policy in ("greedy", "minimax"):
        for what, needed in (("missed wins", "wins at hand"), ("missed blocks", "blocks needed")):
            assert rows[policy][f"{what} (measured)"] == "0"
            assert int(rows[policy][f"{needed} (measured)"]) > 4
    assert int(rows["random"]["missed blocks (measured)"]) > 4
    solved = read_table(results / f"missed-{game}-solved.csv")
    assert solved["minimax"]["wins given away (measured)"] == solved["minimax"]["losing moves (measured)"] == "0"
    assert int(solved["greedy"]["losing moves (measured)"]) > 0


@pytest.mark.slow
def test_missed_chances_have_no_published_column_and_all_files(results):
    report = json.loads((results / "missed.json").read_text())
    assert {column["source"] for table in report["tables"] for column in table["columns"]} == {"", "measured"}
    assert any("nothing here is published" in note for note in report["notes"])
    pictures = {path.name for path in results.glob("*.png")}
    assert pictures == {
        f"missed-{game}-{what}.png" for game in (TIC_TAC_TOE, CONNECT_FOUR) for what in ("at-hand", "solved", "boards")
    }
    boards = (results / "missed-positions.md").read_text()
    assert boards.count("# tic-tac-toe: what was missed") == boards.count("# connect four: what was missed") == 1
    assert "X: random; match " in boards


@pytest.mark.slow
def test_run_of_one_game_with_other_settings_is_accepted(tmp_path, capsys):
    play(tmp_path, TIC_TAC_TOE, "random", "{ random_opening = 0, language = 'zh', hint = false }")
    assert main(PAPER, ["missed", "--run", str(tmp_path / "run"), "--out", str(tmp_path / "out")]) == 0
    assert "tic-tac-toe: wins and blocks at hand" in capsys.readouterr().out
    assert not list((tmp_path / "out").glob("*connect_four*"))


class Failing:
    """A policy whose provider is down."""

    def __call__(self, observation):
        raise ProviderError("the server is down")


class Broken(Failing):
    """Another one."""


SMALL = ("--smoke", "--matches", "2", "--workers", "1")


@pytest.mark.slow
def test_void_matches_are_named(tmp_path, capsys):
    policy = f"{__name__}:Failing"
    assert main(PAPER, ["missed", *SMALL, "--policy", f"{policy}@{CONNECT_FOUR}", "--out", str(tmp_path)]) == 3
    assert "connect four: 6 void matches are not counted" in capsys.readouterr().out
    assert policy not in read_table(tmp_path / f"missed-{CONNECT_FOUR}-at-hand.csv")


def test_run_without_finished_match_is_refused(tmp_path, capsys):
    policies = [f"{__name__}:Failing", f"{__name__}:Broken"]
    assert main(PAPER, ["missed", *SMALL, "--alone", "--policy", *policies, "--out", str(tmp_path)]) == 2
    assert "expected matches of tictactoe_v0 or connect_four_v0, but none has ended yet" in capsys.readouterr().err
    assert not list(tmp_path.glob("missed.*"))


HOSTILE = "``` $x$ **b** <b>\x1b[2J\n\n# title\n```"


def test_a_position_as_text_holds_no_markup_of_a_players_name():
    position = Position(HOSTILE, "0123456789abcdef", 3, 2, "X", "XO__X____", 3, 2, (8,))
    text = to_text(position)
    assert text.splitlines() == [
        "````text",
        r"X: ``` $x$ **b** <b>\x1b[2J # title ```; match 0123456789abcdef (number 3), turn 2",
        "played (1, 3) (-); better (3, 3) (+)",
        "",
        "  1 2 3",
        "1 X O -",
        "2 . X .",
        "3 . . +",
        "````",
    ]
    draw({"missed win": [position]}).savefig("/dev/null", format="svg")
