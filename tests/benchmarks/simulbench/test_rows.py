"""The tables of SimulBench: means, lists and comparisons where the right figures are known by hand."""

import pytest

from benchmarks.experiments.runs import PlayedRun, play_runs
from benchmarks.simulbench import pairwise
from benchmarks.simulbench.answers import Answered, mean_score, subset_means
from benchmarks.simulbench.comparisons import (
    Compared,
    CompareOptions,
    by_pair,
    compared,
    judge_summary,
    plan_comparisons,
    summary,
)
from benchmarks.simulbench.evaluate import group_table, without_perfect
from benchmarks.simulbench.hardest_tasks import at_end, difficulties
from benchmarks.simulbench.main_scores import difference_table
from benchmarks.simulbench.pairwise import consistency_table, oriented, share_table
from llmarena_envs.simulation.labels import SUBSETS
from llmarena_envs.simulation.scripts import Message, Script
from rating.cli.process import Interruptions


def script(name, task="t", kind="stateful", turn=1):
    return Script(name, task, task.upper(), "Be it.", kind, f"{name}.json", turn, (Message("user", "Be it."),))


def answer(name, label, simulator, score, *, task="t", kind="stateful"):
    return Answered(0, script(name, task, kind), label, simulator, {"j": score}, score, None, "")


ANSWERS = [
    answer("1", "LastOnly", "a", 10.0, task="one"),
    answer("2", "FirstChan", "a", 4.0, task="two"),
    answer("3", "FirstChan", "a", 8.0, task="three", kind="stateless"),
    answer("4", "SubseqChan", "a", 6.0, task="two"),
    answer("5", "SubseqChan", "a", None, task="two"),
    answer("1", "LastOnly", "b", 10.0, task="one"),
    answer("2", "FirstChan", "b", 2.0, task="two"),
]


def test_means_of_a_subset_use_its_scripts():
    means = {
        simulator: {
            name: value and (round(value.value, 9), value.n) for name, value in zip(SUBSETS, values, strict=True)
        }
        for simulator, values in subset_means(ANSWERS, SUBSETS).items()
    }
    assert means["a"] == {
        "All": (7, 4),
        "Hard": (6, 3),
        "LastOnly": (10, 1),
        "FirstChan": (6, 2),
        "SubseqChan": (6, 1),
        "Stateless": (8, 1),
        "Stateful": (4, 1),
    }
    assert means["b"]["Hard"] == (2, 1)
    assert means["b"]["SubseqChan"] is None


def test_groups_are_type_difficulty_and_strategy():
    tags = [("easy", 2), ("challenging", 3), ("challenging", 3), ("challenging", 1), (None, 0), ("easy", 2), (None, 0)]
    answers = [
        each._replace(script=each.script._replace(difficulty=difficulty, strategy=strategy))
        for each, (difficulty, strategy) in zip(ANSWERS, tags, strict=True)
    ]
    rows = {row[0]: (row[1], *(mean and round(mean.value, 9) for mean in row[2:])) for row in group_table(answers).rows}
    assert rows == {
        "type: stateless": (1, 8, None),
        "type: stateful": (4, pytest.approx(20 / 3), 6),
        "difficulty: easy": (1, 10, 10),
        "difficulty: challenging": (3, 6, None),
        "strategy 1: not content": (1, 6, None),
        "strategy 2: related": (1, 10, 10),
        "strategy 3: rarer or harder": (2, 6, None),
    }


def test_intervals_stay_on_the_scale_and_are_wide_for_few_tasks():
    every = mean_score(answer(str(number), "LastOnly", "a", 10.0, task=f"task {number % 5}") for number in range(40))
    assert (every.value, every.high, every.n, every.clusters) == (10, 10, 40, 5)
    assert every.low < 6.5  # five tasks are five cases, however many answers they have


def test_difference_of_types():
    rows = {row[0]: row[2] for row in difference_table(ANSWERS).rows}
    assert rows["a"].value == pytest.approx(-4)
    assert rows["b"] is None


def test_scripts_with_perfect_scores_only_are_listed():
    kept, dropped = without_perfect(ANSWERS)
    assert ([each.id for each in kept], dropped) == (["2", "3", "4", "5"], 1)


def test_tasks_are_listed_from_both_ends_without_meeting():
    tasks = difficulties(ANSWERS)
    assert [(each.act, each.scripts, round(each.score.value, 9), each.score.n) for each in tasks] == [
        ("ONE", 1, 10, 2),
        ("THREE", 1, 8, 1),
        ("TWO", 2, 4, 3),
    ]
    assert [each.act for each in at_end(tasks, "simplest", "stateful", 10)] == ["ONE"]
    assert [each.act for each in at_end(tasks, "hardest", "stateful", 10)] == ["TWO"]
    assert [len(at_end(tasks, end, "stateless", 10)) for end in ("simplest", "hardest")] == [1, 0]


def comparison(name, one, swapped, pair=("x", "y")):
    result = None if None in (one, swapped) else one if one == swapped else 0.5
    return Compared(0, script(name, f"task {name}"), "FirstChan", pair, {"j": (one, swapped)}, result, ("", ""))


COMPARISONS = [
    comparison("1", 1.0, 1.0),
    comparison("2", 1.0, 0.0),
    comparison("3", 0.5, 0.5),
    comparison("4", 0.0, 0.0),
    comparison("5", None, 1.0),
]


def test_pairs_are_counted_like_the_published_ones():
    result = summary(COMPARISONS)
    assert (result.wins.value, result.ties.value, result.losses.value, result.left_out) == (0.25, 0.5, 0.25, 1)
    more = [*COMPARISONS, comparison("6", 1.0, 1.0)]
    same = {"GPT-4o": "x", "GPT-4-turbo": "y"}
    pairs = oriented(by_pair(more), same)
    assert list(pairs) == ["y vs. x"]
    (line,) = (row for row in share_table({"y vs. x": summary(pairs["y vs. x"])}, same).rows if " = " in str(row[0]))
    assert line[0] == "GPT-4-turbo vs. GPT-4o = y vs. x"
    assert [line[1], line[3], line[5], line[7]] == [40.36, 35.64, 24.0, 16.36]
    assert [line[number].value for number in (2, 4, 6, 8)] == pytest.approx([20, 40, 40, -20])
    assert list(oriented(by_pair(more), {})) == ["x vs. y"]


def test_swap_consistency_is_computed_per_judge():
    assert judge_summary(COMPARISONS, "j").consistent.value == 0.75
    ((_, judge, consistent, missing),) = consistency_table({"x vs. y": COMPARISONS}).rows
    assert (judge, consistent.value, consistent.n, missing) == ("j", 75, 4, 1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Three simulators on seven hard scripts, with an exact judge and one that always prefers the first answer."""
    options = CompareOptions(
        policy=("perfect", "echo", "silent"), alone=True, number=7, workers=1, judge=("exact", "always:verdict=A")
    )
    with Interruptions() as interruptions:
        directory = tmp_path_factory.mktemp("compare")
        assert play_runs(directory, plan_comparisons(options), interruptions) == 0
    return PlayedRun(directory / "comparisons")


@pytest.mark.slow
def test_every_pair_meets_once_on_every_script(run):
    pairs = by_pair(compared(run))
    assert list(pairs) == [("perfect", "echo"), ("perfect", "silent"), ("echo", "silent")]
    names = [sorted(each.script.id for each in own) for own in pairs.values()]
    assert names[0] == names[1] == names[2]
    assert len(set(names[0])) == len(names[0]) == 7
    seats = {
        tuple(seat.policy for seat in record.outcome.seats[:2])
        for environment in run.environments()
        for record in run.records(environment)
    }
    assert len(seats) == 6  # both sides of every pair


@pytest.mark.slow
def test_position_biased_judge_makes_ties_only(run):
    for own in by_pair(compared(run)).values():
        biased = judge_summary(own, "always:verdict=A")
        assert (biased.ties.value, biased.consistent.value) == (1, 0)
        exact = judge_summary(own, "exact")
        assert exact.consistent.value == 1
    wins = {pair: summary(own).wins.value for pair, own in by_pair(compared(run)).items()}
    assert judge_summary(by_pair(compared(run))["perfect", "echo"], "exact").wins.value == 1
    assert wins["perfect", "echo"] == 0  # one judge of two is no majority


@pytest.mark.slow
def test_row_measures_the_recorded_matches(run):
    result = pairwise.measure({"comparisons": run}, CompareOptions(same=("GPT-4o=echo", "GPT-4-turbo=perfect")))
    counts = next(table for table in result.tables if table.name == "counts")
    measured = {row[0]: row[1:5] for row in counts.rows if row[5] == "measured"}
    assert set(measured) == {"perfect vs. echo", "perfect vs. silent", "echo vs. silent"}
    assert all(sum(row[1:]) == row[0] == 7 for row in measured.values())
