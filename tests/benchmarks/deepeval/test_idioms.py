"""Win rates and hits at idiom solitaire: made matches with known answers, and smoke runs."""

from collections import Counter

import pytest

from benchmarks.deepeval import idioms
from benchmarks.deepeval.__main__ import PAPER
from benchmarks.experiments.command import main
from benchmarks.experiments.published import Published, load_published
from benchmarks.experiments.runs import PlayedRun
from llmarena_envs.idiom_solitaire.game import End
from rating.cli import main as llmarena
from rating.store.records import FINISHED, Outcome, SeatOutcome

EARLY, LATE, DRAW = (1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)


def match(number, early, late, rewards, hits, start=None, end=End.RESIGNED, early_seat=0):
    """A match: first and second mover, their rewards and the number of idioms that each gave."""
    seats = [
        SeatOutcome(
            policy,
            reward,
            statistics={"hits": own, "place": place, "end": end, "start": number if start is None else start},
        )
        for place, (policy, reward, own) in enumerate(zip((early, late), rewards, hits, strict=True))
    ]
    return Outcome("idiom_solitaire_v0", number, 100 + number, FINISHED, tuple(seats[::-1] if early_seat else seats))


def chains(*matches):
    return [idioms.chain(outcome) for outcome in matches]


PLAYED = chains(
    match(0, "a", "b", EARLY, (2, 1)),
    match(1, "a", "b", EARLY, (1, 0), early_seat=1),
    match(2, "a", "b", LATE, (3, 3), end=End.REPEATED),
    match(3, "b", "a", LATE, (0, 0)),
    match(4, "b", "a", DRAW, (50, 50), end=End.MAX_TURNS),
    match(5, "a", "a", EARLY, (9, 8)),
)


def test_first_mover_is_early_on_any_seat():
    pairs = idioms.by_pair(PLAYED)
    assert {pair: len(own) for pair, own in pairs.items()} == {("a", "b"): 3, ("b", "a"): 2}
    early, late = idioms.own_means(idioms.WINS, pairs, "a")
    assert (early.value, early.n, late.value, late.n) == (pytest.approx(2 / 3), 3, 0.5, 2)
    early, late = idioms.own_means(idioms.HITS, pairs, "b")
    assert (early.value, late.value) == (25.0, pytest.approx(4 / 3))
    assert early.low is early.high is None  # two matches say next to nothing
    assert idioms.policies_of(pairs) == ["a", "b"]


def test_matrix_is_early_by_late_without_self_play():
    rows = idioms.matrix_table(idioms.WINS, idioms.by_pair(PLAYED)).rows
    assert [row[:3] for row in rows[:2]] == [["a", None, "0.67 / 0.33 (3)"], ["b", "0.00 / 0.50 (2)", None]]
    assert rows[2][0] == "mean of the late player"
    assert [cell.value for cell in rows[2][1:3]] == [0.5, pytest.approx(1 / 3)]


def test_points_are_exchanged_start_by_start():
    (found,) = idioms.comparisons(
        idioms.by_pair(chains(match(0, "a", "b", EARLY, (1, 0), 3), match(1, "b", "a", DRAW, (1, 1), 3)))
    )
    assert (found.first, found.second) == ("a", "b")
    assert found.values == [(1.0, 0.0), (0.5, 0.5)]
    assert found.clusters == [3, 3]


def test_hits_that_leave_the_winner_open_are_named():
    assert idioms.identity_notes(PLAYED) == ["hits and wins fit in all 5 decided matches"]
    wrong = chains(match(6, "a", "b", EARLY, (2, 2)), match(7, "a", "b", LATE, (2, 1)))
    assert idioms.identity_notes([*PLAYED, *wrong]) == ["hits and wins do not fit in 2 of 7 decided matches: 6, 7"]
    (row,) = idioms.identity_table(idioms.by_pair(wrong)).rows
    assert row == ["a | b", 2, 0, 0, 0.5, 0.5]


def test_causes_of_losses_are_counted():
    table = idioms.end_table(PLAYED)
    assert [column.title for column in table.columns] == ["player", "matches", "repeated idiom", "gave up", "draws"]
    assert table.rows == [["a", 7, 1, 1, 1], ["b", 5, 0, 3, 1]]


def test_all_six_published_cells_contradict_each_other():
    published = load_published("benchmarks.deepeval")
    table = idioms.contradiction_table(published["T1_idiom_wins"], published["T2_idiom_hits"])
    assert [row[-1] for row in table.rows] == ["no"] * 6
    assert table.rows[0][4] == pytest.approx(-0.22)
    possible = idioms.contradiction_table(
        Published("", (), {"a | b": [0.33, 0.67]}),
        Published("", (), {"a | b": [1.33, 1.01]}),
    )
    assert possible.rows[0][-1] == "yes"


@pytest.mark.slow
def test_every_ordered_pair_plays_once_from_every_start(tmp_path, capsys):
    assert main(PAPER, ["t2", "--starts", "5", "--out", str(tmp_path)]) == 0
    assert "hits and wins fit in all 30 decided matches" in capsys.readouterr().out
    played = [idioms.chain(outcome) for outcome in PlayedRun(tmp_path / "t1" / "pairs").outcomes("idiom_solitaire_v0")]
    seen = Counter((each.early.policy, each.late.policy, each.start) for each in played)
    names = ("fewest", "random", "common")
    assert seen == {(one, other, start): 1 for one in names for other in names if one != other for start in range(5)}
    assert llmarena(["replay", "--verify", str(tmp_path / "t1" / "pairs")]) == 0


@pytest.mark.slow
def test_idioms_accept_any_schedule_but_two_players_only(tmp_path, capsys):
    for number, scheme in ((2, "duels"), (3, "mean_reward")):
        run_file = tmp_path / f"{number}.toml"
        policies = "".join(f'[[policy]]\nspec = "{name}"\n' for name in ("random", "common", "fewest"))
        run_file.write_text(
            f'[stop]\nmatches = 4\nmin_matches = 4\nmax_matches = 4\n[[environment]]\nname = "idiom_solitaire_v0"\n'
            f'scheme = "{scheme}"\noptions = {{ n_players = {number} }}\n{policies}'
        )
        assert llmarena(["run", str(run_file), "--out", str(tmp_path / scheme)]) == 0
    assert main(PAPER, ["t1", "--run", str(tmp_path / "duels"), "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert main(PAPER, ["t1", "--run", str(tmp_path / "mean_reward"), "--out", str(tmp_path / "none")]) == 2
    assert "expected matches of two players, got one of 3" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
