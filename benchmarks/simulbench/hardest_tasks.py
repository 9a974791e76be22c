"""The simplest and the hardest tasks: by their mean score over all simulators (SimulBench, Table 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table
from benchmarks.options import option
from benchmarks.simulbench.answers import (
    RUN,
    Answered,
    ScriptOptions,
    answered,
    describe_size,
    left_out,
    plan_answers,
    score_estimate,
)
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.tasks import TYPES
from rating.stats.estimates import Estimate

ENDS = ("simplest", "hardest")


@dataclass(frozen=True, kw_only=True)
class Options(ScriptOptions):
    """Options of the row."""

    listed: int = option(10, "tasks of each type at each end")


class Difficulty(NamedTuple):
    """Difficulty of a task.

    Attributes:
        act: name of the task.
        type: type of the task.
        scripts: number of its scripts.
        score: mean over all simulators and scripts.
    """

    act: str
    type: str
    scripts: int
    score: Estimate


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the simplest and the hardest tasks beside the published ones."""
    check_int("listed", options.listed, 1, 1_000)
    run = runs[RUN]
    answers = answered(run)
    tasks = difficulties(answers)
    tables = [end_table(tasks, end, kind, options.listed) for kind in TYPES for end in ENDS]
    return Result(
        tables,
        {
            kind: estimates(
                {
                    f"{each.act} ({end})": each.score
                    for end in ENDS
                    for each in at_end(tasks, end, kind, options.listed)
                },
                f"mean score of {kind} tasks over all simulators, 1 to 10, with 95 % interval",
            )
            for kind in TYPES
            if any(each.type == kind for each in tasks)
        },
        notes=left_out(run, answers, options),
    )


def difficulties(answers: Sequence[Answered]) -> list[Difficulty]:
    """Returns the difficulty of every task, with intervals clustered by dialogue, the simplest first."""
    by_task: dict[str, list[Answered]] = {}
    for each in answers:
        if each.score is not None:
            by_task.setdefault(each.script.source_id, []).append(each)
    found = []
    for own in by_task.values():
        scores = [each.score for each in own if each.score is not None]
        score = score_estimate(scores, [each.script.source_file_name for each in own])
        assert score is not None
        script = own[0].script
        found.append(Difficulty(script.act, script.type, len({each.script.id for each in own}), score))
    return sorted(found, key=lambda each: (-each.score.value, each.act))


def at_end(tasks: Sequence[Difficulty], end: str, kind: str, listed: int) -> list[Difficulty]:
    """Returns the tasks of a type at one end, the most extreme first; at most half of several tasks."""
    own = [each for each in tasks if each.type == kind]
    count = min(listed, len(own) // 2) if len(own) > 1 else len(own) * (end == ENDS[0])
    return own[:count] if end == ENDS[0] else own[::-1][:count]


def end_table(tasks: Sequence[Difficulty], end: str, kind: str, listed: int) -> Table:
    """Returns the tasks of a type at one end beside the published ones."""
    published = load_published("benchmarks.simulbench")[f"T2_{end}_{kind}"]
    own = at_end(tasks, end, kind, listed)
    rows: list[list[Cell]] = []
    for place, (act, ours) in enumerate(zip_longest(published.rows, own), start=1):
        figures: list[Cell] = [ours.act, ours.score, ours.scripts] if ours else [None, None, None]
        rows.append([place, act, *figures])
    return Table(
        f"{end}_{kind}",
        f"the {end} {kind} tasks",
        [
            Column("place"),
            Column("task", PUBLISHED),
            Column("task", MEASURED),
            Column("mean score", MEASURED),
            Column("scripts", MEASURED),
        ],
        rows,
        [
            *published.notes,
            f"published: {published.source}, a list without scores, of other tasks",
            "measured: means over all simulators; (n): answers; intervals are clustered by dialogue; tasks with the same mean"
            " stand in the order of their names",
        ],
    )


ROW = Row(
    title="the simplest and the hardest tasks of each type",
    source="SimulBench, Table 2",
    options=Options,
    plan=plan_answers,
    measure=measure,
    precision=describe_size,
    shows="It shows on which tasks the simulators together are scored highest and lowest.",
    does_not_show=(
        "It does not show that a task is hard by itself: a task has few scripts, and those of dialogues in which one simulator"
        " failed are harder than others. Places of tasks whose intervals overlap are by chance."
    ),
    any_manner=True,
)
