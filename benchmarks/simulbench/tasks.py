"""The creation of tasks: stateless and stateful ones, with a few examples, from several seeds (SimulBench, section 2.2).

All accepted tasks are written as a file for ``collect``, without near-duplicates of each other and of the packaged tasks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.experiments.file_names import file_name
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.published import load_published
from benchmarks.experiments.replays import played
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table, percent
from benchmarks.options import option
from benchmarks.simulbench.pool import USER_TEMPERATURE, with_temperature
from benchmarks.simulbench.task_creation.game import refusal_statistic
from benchmarks.simulbench.task_creation.proposals import REASONS, Proposal
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.duplicates import near_duplicates
from llmarena_envs.simulation.tasks import TYPES, Task, shipped_tasks, write_tasks
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean
from rating.store.records import FINISHED, SeatOutcome

CREATION = "benchmarks.simulbench.task_creation.env"
CREATORS = "benchmarks.simulbench.task_creation.creators"
SCRIPTED = {CREATION: (f"templates={CREATORS}:Templates", f"careless={CREATORS}:Careless:fault=same")}
RUN = "creation"
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


class Created(NamedTuple):
    """Tasks of a creator in one match.

    Attributes:
        creator: the policy.
        match: number of the match.
        type: of the tasks.
        wanted: number of requested tasks.
        seat: the creator's seat.
        kept: the accepted proposals.
    """

    creator: str
    match: int
    type: str
    wanted: int
    seat: SeatOutcome
    kept: tuple[Proposal, ...]

    def number(self, statistic: str) -> int:
        """Returns a statistic."""
        return int(self.seat.statistics[statistic])


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run of every creator on both types of tasks, several times."""
    check_int("seeds", options.seeds, 1, 1_000)
    work = EnvironmentConfig(
        name=CREATION,
        options={
            "count": options.count,
            "batch": options.count,
            "calls": options.calls,
            "examples": options.examples,
            "language": options.language,
        },
        by_deal={"type": list(TYPES)},
    )
    config = plan_run(options, [work], scripted=SCRIPTED, stop={"matches": len(TYPES) * options.seeds})
    policies = [with_temperature(policy, options.temperature) for policy in config.policy]
    return {RUN: config.model_copy(update={"policy": policies})}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the tasks, and the numbers of accepted and refused proposals by reason."""
    run = runs[RUN]
    created = creations(run)
    tasks, repeated = collected(created, options.language)
    void = [outcome for outcome in run.outcomes(CREATION) if outcome.status != FINISHED]
    shares = {creator: percent(kept_share(own)) for creator, own in by_creator(created).items()}
    return Result(
        [type_table(tasks), creator_table(created, tasks, repeated)],
        {"kept": estimates(shares, "tasks kept, % of those asked for, with 95 % interval")},
        notes=[
            f"{outcome.seats[0].policy}: match {outcome.number} is {outcome.status} and left out" for outcome in void
        ],
        files={"created.jsonl": write_tasks(tasks)},
    )


def creations(run: PlayedRun) -> list[Created]:
    """Returns the creators' tasks, match by match.

    Raises:
        RunError: if no match has ended.
    """
    found = []
    for record in run.records(CREATION):
        game = played(record).game
        assert record.outcome is not None
        (seat,) = record.outcome.seats
        found.append(Created(seat.policy, record.match.number, game.type, game.count, seat, game.accepted))
    if not found:
        raise RunError(f"{run.directory}: expected matches of {CREATION}, but none has ended yet")
    return found


def collected(created: Sequence[Created], language: str) -> tuple[list[Task], dict[str, int]]:
    """Returns all tasks with unique ids, and by creator the number of near-duplicates of earlier or packaged ones."""
    names = list(by_creator(created))
    tasks: list[Task] = list(shipped_tasks(language))
    known = len(tasks)
    owners = [""] * known
    for creator in names:
        for kind in TYPES:
            kept = [each for item in created if item.creator == creator and item.type == kind for each in item.kept]
            for number, each in enumerate(kept, start=1):
                name = f"{file_name(creator, names)}-{kind}-{number:02d}"
                tasks.append(Task(*each, kind, name, "", language))
                owners.append(creator)
    near = near_duplicates(tasks)
    repeated = {creator: sum(owners[number] == creator for number in near) for creator in names}
    return [task for number, task in enumerate(tasks) if number >= known and number not in near], repeated


def by_creator(created: Sequence[Created]) -> dict[str, list[Created]]:
    """Returns matches by creator, in the order of their first matches."""
    found: dict[str, list[Created]] = {}
    for item in created:
        found.setdefault(item.creator, []).append(item)
    return found


def kept_share(created: Sequence[Created]) -> Estimate | None:
    """Returns the share of the requested tasks that were accepted, clustered by match."""
    hits: list[float] = []
    clusters: list[int] = []
    for item in created:
        hits += [1.0] * len(item.kept) + [0.0] * (item.wanted - len(item.kept))
        clusters += [item.match] * item.wanted
    return bounded_mean(hits, clusters)


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


def creator_table(created: Sequence[Created], tasks: Sequence[Task], repeated: Mapping[str, int]) -> Table:
    """Returns the results of every creator."""
    rows: list[list[Cell]] = []
    for creator, own in by_creator(created).items():
        kept = sum(len(item.kept) for item in own)
        rows.append(
            [
                creator,
                sum(item.number("calls") for item in own),
                sum(item.wanted for item in own),
                percent(kept_share(own)),
                sum(item.number("drafted") for item in own),
                *(sum(item.number(refusal_statistic(reason)) for item in own) for reason in REASONS),
                sum(sum(item.seat.failures.values()) for item in own),
                repeated[creator],
                kept - repeated[creator],
            ]
        )
    return Table(
        "creators",
        "what became of the tasks of every creator",
        [
            Column("creator"),
            Column("calls", MEASURED),
            Column("asked for"),
            Column("kept, % of those asked for", MEASURED, 1),
            Column("drafted", MEASURED),
            *(Column(REASON_TITLES[reason], MEASURED) for reason in REASONS),
            Column("replies that held no task", MEASURED),
            Column("kept, but a near-duplicate of one in another match or of a shipped one", MEASURED),
            Column("in the file", MEASURED),
        ],
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
        f"n = {asked} tasks asked of each creator, {options.count} in each of {len(TYPES) * options.seeds} matches;"
        f" a model writes about {300 * options.count} tokens in each"
    )


ROW = Row(
    title="step 1, tasks: stateless and stateful ones by task creators, what was kept of them and why the rest was not",
    source="SimulBench, section 2.2",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows how many tasks of a creator can be used, and writes them in the form that collect takes.",
    does_not_show=(
        "It does not show whether a task is good, difficult or new: only what can be seen for certain is checked. The paper"
        " generates with five seeds at temperature 1.2, which models have here unless their spec says otherwise."
    ),
)
