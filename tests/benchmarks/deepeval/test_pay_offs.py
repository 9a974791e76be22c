"""Pay-offs at public goods: made matches with known answers, and smoke runs."""

import csv
import json
from itertools import pairwise
from typing import ClassVar

import pytest

from agents.policy import ScriptedPolicy
from benchmarks.deepeval import pay_offs
from benchmarks.deepeval.__main__ import PAPER
from benchmarks.experiments.command import main
from benchmarks.experiments.published import load_published
from rating.cli import main as llmarena
from rating.store.records import FINISHED, Outcome, SeatOutcome


def table(number, **paid):
    """A match by the coins of every policy."""
    seats = tuple(SeatOutcome(policy, coins, statistics={"investment": 5.0}) for policy, coins in paid.items())
    return Outcome("public_goods_v0", number, number, FINISHED, seats)


def read(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_pay_offs_by_policy_the_highest_mean_first():
    paid = {"a": [50, 56, 50, 56, 50], "b": [60, 50, 60, 50, 55]}
    seats = pay_offs.by_policy(
        [table(number, a=a, b=b) for number, (a, b) in enumerate(zip(*paid.values(), strict=True))]
    )
    assert {policy: [seat.reward for seat in own] for policy, own in seats.items()} == paid
    (first, second) = pay_offs.pay_off_table("", seats, {"a": 2}, 50.0).rows
    assert first[0] == "b"
    assert (first[1].value, first[1].n, first[1].low) == (55.0, 5, pytest.approx(55 - 2.7764 * 5**0.5, rel=1e-4))
    assert first[2:6] == [5, 50, 55, 60]
    assert second[-1] == 2


def test_differences_are_of_the_matches_that_both_played():
    matches = [table(0, a=50.0, b=60.0, c=1.0), table(1, c=2.0, a=50.0, d=9.0), table(2, b=40.0, a=45.0, d=1.0)]
    found = {(item.first, item.second): item.values for item in pay_offs.comparisons(matches, ["b", "a", "c", "d"])}
    assert found["b", "a"] == [(60, 50), (40, 45)]
    assert found["a", "c"] == [(50, 1), (50, 2)]
    assert found["c", "d"] == [(2, 9)]


def test_published_rounds_pay_hand_computed_amounts():
    rows = pay_offs.replay_table(load_published("benchmarks.deepeval")["fig6_investments"]).rows
    assert [(row[0], row[-1]) for row in rows] == [
        ("GPT-4", 60.8),
        ("PaLM", 54.8),
        ("Claude 2", 57.8),
        ("ChatGPT", 57.8),
    ]


@pytest.mark.slow
def test_pay_offs_have_the_theoretical_order(tmp_path, capsys):
    assert main(PAPER, ["f4a", "--matches", "8", "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    lines = read(tmp_path / "f4a-pay-offs.csv")
    assert [line["player"] for line in lines[::3]] == ["free_rider", "full_contributor"]
    assert {line["mean (measured) n"] for line in lines} == {"8"}
    means = [float(line["mean (measured)"]) for line in lines]
    assert all(better >= worse for better, worse in pairwise(means))
    tests = read(tmp_path / "f4a-tests.csv")
    assert (
        float(tests[2]["first less second (measured)"]) == 50.0
    )  # a free rider keeps the full contributor's investment
    assert float(tests[2]["p (measured)"]) == pytest.approx(2 / 2**8, abs=1e-6)
    assert float(tests[2]["p, corrected (measured)"]) == pytest.approx(6 * 2 / 2**8, abs=1e-6)


@pytest.mark.slow
def test_a_run_of_groups_of_one_kind_is_refused(tmp_path, capsys):
    run_file = tmp_path / "run.toml"
    run_file.write_text(
        '[stop]\nmatches = 2\n[[environment]]\nname = "public_goods_v0"\nscheme = "self_play"\n[[policy]]\nspec = "random"\n'
    )
    assert llmarena(["run", str(run_file), "--out", str(tmp_path / "run")]) == 0
    assert main(PAPER, ["f4a", "--run", str(tmp_path / "run"), "--out", str(tmp_path / "out")]) == 2
    assert "expected scheme = 'mean_reward', got 'self_play'" in capsys.readouterr().err


def test_three_policies_do_not_fill_the_table(tmp_path, capsys):
    words = [f"--policy={name}" for name in ("random", "free_rider", "first_legal")]
    assert main(PAPER, ["f4a", "--smoke", "--alone", *words, "--out", str(tmp_path)]) == 2
    assert "expected 4 policies or more" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_investments_that_were_made_for_a_player_are_counted(tmp_path, capsys):
    policies = ["free_rider", "random", "full_contributor", "tests.benchmarks.deepeval.test_pay_offs:TooMuch"]
    words = ["f4a", "--smoke", "--alone", "--json", "--out", str(tmp_path)]
    assert main(PAPER, [*words, *(f"--policy={name}" for name in policies)]) == 0
    by_player = {row["player"]: row for row in json.loads(capsys.readouterr().out)["tables"][0]["rows"]}
    assert by_player[policies[-1]]["investments made for the player (measured)"] == 5 * 4
    assert 2 < by_player[policies[-1]]["investment in a round (measured)"]["value"] < 8  # random ones


def test_a_match_that_was_forfeited_is_counted():
    whole = [table(8, a=1.0, b=2.0)]
    note = "1 of 2 matches were ended by a forfeit and are left out"
    assert pay_offs.forfeited([table(7, a=-1.0, b=0.0), *whole], whole) == [note]
    assert pay_offs.forfeited(whole, whole) == []


class TooMuch(ScriptedPolicy):
    """Always wants to invest more than there is."""

    reads: ClassVar[str] = "text"

    def __call__(self, observation):
        return "coins: 1000"
