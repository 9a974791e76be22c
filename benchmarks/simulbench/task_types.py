"""Stateless against stateful tasks, on the first challenging turns (SimulBench, Figure 3a)."""

from collections.abc import Mapping

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.proportions import unpaired_change
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table
from benchmarks.simulbench.answers import (
    RUN,
    Answered,
    ScriptOptions,
    answered,
    describe_size,
    left_out,
    plan_answers,
    subset_means,
)
from benchmarks.simulbench.main_scores import published_scores, score_table
from rating.stats.estimates import Estimate

SUBSETS = ("Stateless", "Stateful")


def measure(runs: Mapping[str, PlayedRun], options: ScriptOptions) -> Result:
    """Returns the scores on both types and their difference."""
    run = runs[RUN]
    answers = answered(run)
    same = options.published_as()
    means = subset_means(answers, SUBSETS)
    shown = {
        f"{simulator}, {subset.lower()}": value
        for simulator, values in means.items()
        for subset, value in zip(SUBSETS, values, strict=True)
    }
    return Result(
        [
            score_table(
                answers, SUBSETS, same, "scores", "mean scores, 1 to 10, on first challenging turns by type of task"
            ),
            difference_table(answers),
        ],
        {"scores": estimates(shown, "mean score on first challenging turns, 1 to 10, with 95 % interval")},
        notes=left_out(run, answers, options),
    )


def difference_table(answers: list[Answered]) -> Table:
    """Returns the difference between every simulator's scores on stateful and stateless tasks."""
    table, published = published_scores(SUBSETS)
    rows: list[list[Cell]] = [
        [model, round(float(str(stateful)) - float(str(stateless)), 2), None]
        for model, (stateless, stateful) in published.items()
    ]
    rows += [[simulator, None, _difference(*values)] for simulator, values in subset_means(answers, SUBSETS).items()]
    return Table(
        "difference",
        "score on stateful tasks less that on stateless ones",
        [Column("player"), Column("points", PUBLISHED), Column("points", MEASURED)],
        rows,
        [
            f"published: {table.source}, without intervals, on 38 stateless and 55 stateful scripts",
            "measured: the two types have different tasks, so the intervals of both are combined",
        ],
    )


def _difference(stateless: Estimate | None, stateful: Estimate | None) -> Estimate | None:
    return unpaired_change(stateless, stateful) if stateless and stateful else None


ROW = Row(
    title="stateless against stateful tasks on first challenging turns",
    source="SimulBench, Figure 3a",
    options=ScriptOptions,
    plan=plan_answers,
    measure=measure,
    precision=describe_size,
    shows="It shows for every simulator whether tasks with a state behind them are scored higher or lower than those without.",
    does_not_show=("It does not show that state makes a task hard: the two types are different tasks."),
    any_manner=True,
)
