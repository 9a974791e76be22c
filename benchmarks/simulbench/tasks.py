"""The creation of tasks: stateless and stateful ones, with a few examples, from several seeds (SimulBench, section 2.2).

All accepted tasks are written as a file for ``collect``, without near-duplicates of each other and of the packaged tasks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.experiments.asking import Answer
from benchmarks.experiments.file_names import file_name
from benchmarks.experiments.jobs import Asked, Job, case_streams
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import job_pool
from benchmarks.experiments.proportions import rate_of_counts
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import Played, PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from benchmarks.simulbench.pool import USER_TEMPERATURE, with_temperature
from benchmarks.simulbench.task_creation.case import CREATOR, Creation
from benchmarks.simulbench.task_creation.proposals import REASONS, Proposal
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.duplicates import near_duplicates
from llmarena_envs.simulation.tasks import TYPES, Task, shipped_tasks, write_tasks
from rating.errors import RunError
from rating.stats.estimates import Estimate

JOB = "creation"
STREAM = "benchmarks.simulbench.task_creation.env"
"""Seeds the random draws; the published tables were made with it."""

CREATORS = "benchmarks.simulbench.task_creation.creators"
SCRIPTED = {JOB: (f"templates={CREATORS}:Templates", f"careless={CREATORS}:Careless:fault=same")}
REASON_TITLES = {
    "proposal_incomplete": "incomplete",
    "proposal_short": "too short",
    "proposal_long": "too long",
    "proposal_example": "an example",
    "proposal_repeated": "repeated",
}
"""Names of reasons in tables."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    count: int = option(5, "tasks of each type and seed, asked for at once", smoke=2)
    seeds: int = option(5, "how often tasks of each type are asked for, each time with other examples", smoke=2)
    calls: int = option(3, "how often the same tasks are asked for at most")
    examples: int = option(5, "tasks that are shown", smoke=2)
    temperature: float = option(USER_TEMPERATURE, "sampling temperature of language models whose spec names none")


Created = Answer[Creation]
"""Tasks of a creator in one case."""


def ask(runs: Mapping[str, PlayedRun], options: Options) -> list[Job[Creation]]:
    """Returns the job of every creator on both types of tasks, several times with other examples."""
    check_int("seeds", options.seeds, 1, 1_000)
    cases = [
        Creation(
            f"{kind}-{seed}",
            kind,
            options.language,
            count=options.count,
            batch=options.count,
            calls=options.calls,
            examples=options.examples,
            rng=np.random.default_rng(case_streams(options.seed, STREAM, len(TYPES) * (seed - 1) + number).game()),
        )
        for seed in range(1, options.seeds + 1)
        for number, kind in enumerate(TYPES)
    ]
    policies = job_pool(options, JOB, SCRIPTED)
    return [
        Job(
            JOB,
            CREATOR,
            [with_temperature(each, options.temperature) for each in policies],
            cases,
            options.seed,
            stream=STREAM,
        )
    ]


def measure(played: Played, options: Options) -> Result:
    """Returns the tasks, and the numbers of accepted and refused proposals by reason.

    Raises:
        RunError: if no answer is complete.
    """
    asked: Asked[Creation] = played.asked[JOB]
    if not asked.answers:
        raise RunError(f"{asked.path}: expected the tasks of a case, but none is complete")
    tasks, repeated = collected(asked.answers, options.language)
    shares = {creator: percent(kept_share(own)) for creator, own in asked.answers.items()}
    return Result(
        [type_table(tasks), creator_table(asked.answers, tasks, repeated)],
        {"kept": estimates(shares, "tasks kept, % of those asked for, with 95 % interval")},
        notes=asked.notes(),
        files={"created.jsonl": write_tasks(tasks)},
    )


def collected(created: Mapping[str, Sequence[Created]], language: str) -> tuple[list[Task], dict[str, int]]:
    """Returns all tasks with unique ids, and by creator the number of near-duplicates of earlier or packaged ones."""
    names = list(created)
    tasks: list[Task] = list(shipped_tasks(language))
    known = len(tasks)
    owners = [""] * known
    for creator, own in created.items():
        for kind in TYPES:
            kept: list[Proposal] = [each for item in own if item.case.type == kind for each in item.accepted]
            for number, each in enumerate(kept, start=1):
                name = f"{file_name(creator, names)}-{kind}-{number:02d}"
                tasks.append(Task(*each, kind, name, "", language))
                owners.append(creator)
    near = near_duplicates(tasks)
    repeated = {creator: sum(owners[number] == creator for number in near) for creator in names}
    return [task for number, task in enumerate(tasks) if number >= known and number not in near], repeated


def kept_share(created: Sequence[Created]) -> Estimate | None:
    """Returns the share of the requested tasks that were accepted, clustered by case."""
    return rate_of_counts((len(item.accepted), item.case.count, item.case.name) for item in created)


def type_table(tasks: Sequence[Task]) -> Table:
    """Returns the number of tasks of each type."""
    published = load_published("benchmarks.simulbench")["tasks"]
    rows: list[list[Cell]] = [
        [kind, *numbers, sum(kind in (task.type, "all") for task in tasks)] for kind, numbers in published.rows.items()
    ]
    return Table(
        "types",
        "number of tasks by type",
        [Column("type"), Column("tasks", PUBLISHED), Column("tasks", MEASURED)],
        rows,
        [
            f"published: {published.source}",
            *published.notes,
            "measured: those that were created here; the tasks that come with the package are others",
        ],
    )


def creator_table(
    created: Mapping[str, Sequence[Created]], tasks: Sequence[Task], repeated: Mapping[str, int]
) -> Table:
    """Returns the results of every creator."""
    rows: list[Cells] = []
    for creator, own in created.items():
        kept = sum(len(item.accepted) for item in own)
        rows.append(
            {
                Column("creator"): creator,
                Column("calls", MEASURED): sum(item.calls for item in own),
                Column("asked for"): sum(item.case.count for item in own),
                Column("kept, % of those asked for", MEASURED, 1): percent(kept_share(own)),
                Column("drafted", MEASURED): sum(item.drafted for item in own),
                **{
                    Column(REASON_TITLES[reason], MEASURED): sum(item.refused[reason] for item in own)
                    for reason in REASONS
                },
                Column("replies that held no task", MEASURED): sum(item.unreadable for item in own),
                Column("kept, but a near-duplicate of one in another match or of a shipped one", MEASURED): repeated[
                    creator
                ],
                Column("in the file", MEASURED): kept - repeated[creator],
            }
        )
    return Table.of(
        "creators",
        "what became of the tasks of every creator",
        rows,
        [
            "repeated: nearly the same as a task that was kept in the same match",
            f"{len(tasks)} tasks stand in the file, those of all creators; intervals are clustered by match",
        ],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    asked = len(TYPES) * options.seeds * options.count
    return (
        f"n = {asked} tasks asked of each creator, {options.count} in each of {len(TYPES) * options.seeds} cases;"
        f" a model writes about {300 * options.count} tokens in each"
    )


ROW = Row(
    title="step 1, tasks: stateless and stateful ones by task creators, what was kept of them and why the rest was not",
    source="SimulBench, section 2.2",
    options=Options,
    ask=ask,
    measure=measure,
    precision=precision,
    shows="It shows how many tasks of a creator can be used, and writes them in the form that collect takes.",
    does_not_show=(
        "It does not show whether a task is good, difficult or new: only what can be seen for certain is checked. The paper"
        " generates with five seeds at temperature 1.2, which models have here unless their spec says otherwise."
    ),
)
