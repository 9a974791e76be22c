"""The extraction of scripts: an observer finds the first challenging turn of each dialogue (SimulBench, section 2.4).

That turn and all later ones become scripts, each with the dialogue up to its request; in a dialogue without a challenging turn
the last one does. Every observer's scripts are written as a file for ``evaluate`` and ``compare``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.experiments.file_names import file_name
from benchmarks.experiments.jobs import Asked, Job
from benchmarks.experiments.pool import job_pool
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import Played, PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from benchmarks.simulbench.inputs import read_dialogues, refusal_notes
from benchmarks.simulbench.observation.case import OBSERVER, Observation
from benchmarks.simulbench.observation.observers import first_challenging
from benchmarks.simulbench.pool import chosen
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.dialogues import Dialogue, extract_scripts
from llmarena_envs.simulation.labels import SUBSETS, subset
from llmarena_envs.simulation.scripts import Script, write_scripts
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean

JOB = "observation"
OBSERVERS = "benchmarks.simulbench.observation.observers"
SCRIPTED = {JOB: (f"exact={OBSERVERS}:Exact", f"content={OBSERVERS}:Fixed:turn=0")}


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    dialogues: str = option("", "file of dialogues, as collect writes it (default: those that come with the package)")
    number: int = option(0, "how many dialogues at most, drawn by seed; 0 for all", smoke=12)


class Observed(NamedTuple):
    """An observer's finding in a dialogue.

    Attributes:
        observer: the policy.
        dialogue: the dialogue.
        turn: the first challenging turn, 0 for none; ``None`` for an abstention.
    """

    observer: str
    dialogue: Dialogue
    turn: int | None

    @property
    def scripts(self) -> tuple[Script, ...]:
        """The scripts of the dialogue; none without a finding."""
        return () if self.turn is None else extract_scripts(self.dialogue, self.turn)


def numbers(options: Options) -> list[int]:
    """Returns the indices of the dialogues to observe."""
    check_int("number", options.number, 0, 1_000_000)
    return chosen(len(read_dialogues(options.dialogues, options.language).rows), options.number, options.seed)


def ask(runs: Mapping[str, PlayedRun], options: Options) -> list[Job[Observation]]:
    """Returns the job of every observer on every dialogue."""
    dialogues = read_dialogues(options.dialogues, options.language).rows
    cases = [Observation(dialogues[number], options.language) for number in numbers(options)]
    policies = job_pool(options, JOB, SCRIPTED)
    return [Job(JOB, OBSERVER, policies, cases, options.seed)]


def measure(played: Played, options: Options) -> Result:
    """Returns the observers' findings, and the scripts.

    Raises:
        RunError: if no dialogue has an answer.
    """
    asked: Asked[Observation] = played.asked[JOB]
    if not asked.answers:
        raise RunError(f"{asked.path}: expected recorded findings, got none")
    by_observer = {
        observer: [Observed(observer, each.case.dialogue, next(iter(each.accepted), None)) for each in own]
        for observer, own in asked.answers.items()
    }
    names = list(by_observer)
    return Result(
        [script_table(by_observer), observer_table(by_observer)],
        notes=[*asked.notes(), *refusal_notes(read_dialogues(options.dialogues, options.language))],
        files={
            f"scripts-{file_name(observer, names)}.jsonl": write_scripts(
                script for each in own for script in each.scripts
            )
            for observer, own in by_observer.items()
        },
    )


def script_table(by_observer: Mapping[str, Sequence[Observed]]) -> Table:
    """Returns the number of scripts in each subset."""
    published = load_published("benchmarks.simulbench")["scripts"]
    scripts = {observer: [script for each in own for script in each.scripts] for observer, own in by_observer.items()}
    rows: list[list[Cell]] = [
        [name, *published.rows[name], *(len(subset(own, name)) for own in scripts.values())] for name in SUBSETS
    ]
    return Table(
        "scripts",
        "number of scripts by subset",
        [
            Column("subset"),
            Column("scripts", PUBLISHED),
            *(Column(f"scripts of {observer}", MEASURED) for observer in scripts),
        ],
        rows,
        [f"published: {published.source}", *published.notes],
    )


def observer_table(by_observer: Mapping[str, Sequence[Observed]]) -> Table:
    """Returns every observer's findings, and whether they are the first wrong answer or request tagged as challenging."""
    rows: list[Cells] = []
    for observer, own in by_observer.items():
        given = [each for each in own if each.turn is not None]
        known = [(each, truth) for each in given if (truth := first_challenging(each.dialogue)) is not None]
        rows.append(
            {
                Column("observer"): observer,
                Column("dialogues", MEASURED): len(own),
                Column("without a finding", MEASURED): len(own) - len(given),
                Column("with a challenging turn, %", MEASURED, 1): _rate([(each, each.turn != 0) for each in given]),
                Column("the known turn, % of dialogues whose truth is known", MEASURED, 1): _rate(
                    [(each, each.turn == truth) for each, truth in known]
                ),
            }
        )
    return Table.of(
        "observers",
        "what observers found",
        rows,
        [
            "(n): dialogues; intervals are clustered by task",
            "known turn: the first with a wrong answer, or with a request that a shipped dialogue tags as challenging",
        ],
    )


def _rate(cases: Sequence[tuple[Observed, bool]]) -> Estimate | None:
    """Returns a share of dialogues in per cent, clustered by task."""
    return percent(bounded_mean([float(hit) for _, hit in cases], [each.dialogue.source_id for each, _ in cases]))


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {len(numbers(options))} dialogues for each observer"


ROW = Row(
    title="step 3, extract: the first challenging turn of each dialogue by observers, and the scripts that follow",
    source="SimulBench, section 2.4",
    options=Options,
    ask=ask,
    measure=measure,
    precision=precision,
    shows=(
        "It shows in how many dialogues observers see a challenge and whether it is the known one, and writes the scripts of each"
        " observer."
    ),
    does_not_show=(
        "It does not show whether a request is hard for a model: shipped dialogues have right answers only, and their tags were"
        " set when they were written. The scripted observer exact knows tags and engines."
    ),
)
