"""Mean scores by subset of scripts: the main scores, and those by type of task and of script (SimulBench).

Table 4 and Figure 2 have all scripts and the hard ones, Figure 3a stateless and stateful tasks, Figure 3b last turns without a
challenge, first challenging turns and later ones.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.proportions import unpaired_change
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
from llmarena_envs.simulation.labels import LABELS, SUBSETS
from rating.stats.estimates import Estimate

MAIN = ("All", "Hard")
TYPES = ("Stateless", "Stateful")


def measure(
    subsets: Sequence[str],
    title: str,
    label: str,
    further: Callable[[Sequence[Answered], Mapping[str, str]], Sequence[Table]],
    runs: Mapping[str, PlayedRun],
    options: ScriptOptions,
) -> Result:
    """Returns the scores on some subsets beside the published ones.

    Args:
        subsets: the subsets.
        title: of the table.
        label: of the figure.
        further: returns further tables, from the answers and our policy by published model.
        runs: the played run.
        options: of the row.
    """
    run = runs[RUN]
    answers = answered(run)
    same = options.published_as()
    shown = {
        f"{simulator}, {subset.lower() if subset in TYPES else subset}": value
        for simulator, values in subset_means(answers, subsets).items()
        for subset, value in zip(subsets, values, strict=True)
    }
    return Result(
        [score_table(answers, subsets, same, "scores", title), *further(answers, same)],
        {"scores": estimates(shown, label)},
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


def difference_table(answers: Sequence[Answered]) -> Table:
    """Returns the difference between every simulator's scores on stateful and stateless tasks."""
    table, published = published_scores(TYPES)
    rows: list[list[Cell]] = [
        [model, round(float(str(stateful)) - float(str(stateless)), 2), None]
        for model, (stateless, stateful) in published.items()
    ]
    rows += [[simulator, None, _difference(*values)] for simulator, values in subset_means(answers, TYPES).items()]
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


def make_row(
    title: str,
    source: str,
    shows: str,
    does_not_show: str,
    measured: Callable[[Mapping[str, PlayedRun], ScriptOptions], Result],
) -> Row[ScriptOptions]:
    """Returns a row of mean scores, computed from answers to scripts."""
    return Row(
        title=title,
        source=source,
        options=ScriptOptions,
        plan=plan_answers,
        measure=measured,
        precision=describe_size,
        shows=shows,
        does_not_show=does_not_show,
        any_manner=True,
    )


MAIN_SCORES = make_row(
    "main scores of simulators on all scripts and on the hard ones",
    "SimulBench, Table 4 and Figure 2",
    "It shows the mean score of every simulator on all scripts and on those of challenging turns, with intervals.",
    (
        "It does not show that a simulator is worse by itself on the hard scripts than others are: collected scripts are hard"
        " where one simulator failed, those of the package where their authors tagged a request as challenging. Whether the"
        " judges are right is another question: see truth."
    ),
    partial(
        measure,
        MAIN,
        "mean scores, 1 to 10, on all scripts and on the hard ones",
        "mean score, 1 to 10, with 95 % interval",
        lambda answers, same: [
            score_table(answers, SUBSETS, same, "subsets", "mean scores, 1 to 10, on all subsets"),
            group_table(answers),
            count_table(answers),
        ],
    ),
)

TASK_TYPES = make_row(
    "stateless against stateful tasks on first challenging turns",
    "SimulBench, Figure 3a",
    "It shows for every simulator whether tasks with a state behind them are scored higher or lower than those without.",
    "It does not show that state makes a task hard: the two types are different tasks.",
    partial(
        measure,
        TYPES,
        "mean scores, 1 to 10, on first challenging turns by type of task",
        "mean score on first challenging turns, 1 to 10, with 95 % interval",
        lambda answers, same: [difference_table(answers)],
    ),
)

SCRIPT_TYPES = make_row(
    "scores by type of script: LastOnly, FirstChan and SubseqChan",
    "SimulBench, Figure 3b",
    "It shows how scores fall from turns without a challenge to the first challenging turn and those after it.",
    (
        "It does not show why: later turns of collected dialogues follow a wrong answer, which simulators may repeat. In the"
        " dialogues of the package all answers are right."
    ),
    partial(
        measure,
        LABELS,
        "mean scores, 1 to 10, by type of script",
        "mean score, 1 to 10, with 95 % interval",
        lambda answers, same: [count_table(answers)],
    ),
)
