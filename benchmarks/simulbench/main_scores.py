"""The main scores: means on all scripts and on the hard ones (SimulBench, Table 4 and Figure 2)."""

from collections.abc import Mapping, Sequence

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.published import Published, load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table, beside, paired_columns
from benchmarks.simulbench.answers import (
    RUN,
    Answered,
    ScriptOptions,
    answered,
    describe_size,
    left_out,
    plan_answers,
    subset_means,
    within,
)
from benchmarks.simulbench.evaluate import group_table
from llmarena_envs.simulation.labels import SUBSETS

MAIN = ("All", "Hard")


def measure(runs: Mapping[str, PlayedRun], options: ScriptOptions) -> Result:
    """Returns the scores on all subsets beside the published ones."""
    run = runs[RUN]
    answers = answered(run)
    same = options.published_as()
    means = subset_means(answers, MAIN)
    shown = {
        f"{simulator}, {subset}": value
        for simulator, values in means.items()
        for subset, value in zip(MAIN, values, strict=True)
    }
    return Result(
        [
            score_table(answers, MAIN, same, "scores", "mean scores, 1 to 10, on all scripts and on the hard ones"),
            score_table(answers, SUBSETS, same, "subsets", "mean scores, 1 to 10, on all subsets"),
            group_table(answers),
            count_table(answers),
        ],
        {"scores": estimates(shown, "mean score, 1 to 10, with 95 % interval")},
        notes=left_out(run, answers, options),
    )


def published_scores(subsets: Sequence[str]) -> tuple[Published, dict[str, list[Cell]]]:
    """Returns the published table, and its figures for some subsets by model."""
    table = load_published("benchmarks.simulbench")["T4"]
    places = [table.columns.index(subset) for subset in subsets]
    return table, {model: [numbers[place] for place in places] for model, numbers in table.rows.items()}


def score_table(
    answers: Sequence[Answered], subsets: Sequence[str], same: Mapping[str, str], name: str, title: str
) -> Table:
    """Returns mean scores on some subsets beside the published ones.

    Args:
        answers: to all scripts.
        subsets: the subsets.
        same: our policy by published model.
        name: of the table.
        title: of the table.
    """
    table, published = published_scores(subsets)
    return Table(
        name,
        title,
        paired_columns(subsets),
        beside(published, subset_means(answers, subsets), same),
        [
            f"published: {table.source}",
            *table.notes,
            "measured: (n): answers; intervals are clustered by task",
            "published scores are of other scripts and other judges: only the order of simulators compares",
        ],
    )


def count_table(answers: Sequence[Answered]) -> Table:
    """Returns the numbers of scripts and tasks in each subset."""
    published = load_published("benchmarks.simulbench")["scripts"]
    rows: list[list[Cell]] = []
    for subset in SUBSETS:
        own = within(answers, subset)
        scripts = {each.script.id: each.script.source_id for each in own}
        rows.append([subset, *published.rows[subset], len(scripts), len(set(scripts.values()))])
    return Table(
        "scripts",
        "number of scripts by subset",
        [Column("subset"), Column("scripts", PUBLISHED), Column("scripts", MEASURED), Column("tasks", MEASURED)],
        rows,
        [f"published: {published.source}", *published.notes],
    )


ROW = Row(
    title="main scores of simulators on all scripts and on the hard ones",
    source="SimulBench, Table 4 and Figure 2",
    options=ScriptOptions,
    plan=plan_answers,
    measure=measure,
    precision=describe_size,
    shows="It shows the mean score of every simulator on all scripts and on those of challenging turns, with intervals.",
    does_not_show=(
        "It does not show that a simulator is worse by itself on the hard scripts than others are: collected scripts are hard"
        " where one simulator failed, those of the package where their authors tagged a request as challenging. Whether the"
        " judges are right is another question: see truth."
    ),
    any_manner=True,
)
