"""Judged matches of a writer and an editor: plans, and reading from runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.deepeval.pool import SCRIPTED
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.row import RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.writer_editor.game import CODE_REVIEW, SCALE
from llmarena_envs.writer_editor.objective import UNKNOWN
from llmarena_envs.writer_editor.tasks import Languages, load_documents, load_problems
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.results import rated_seats, staff_seats
from rating.store.records import FINISHED, UNDECIDED, Outcome, SeatOutcome

TASKS = "tasks"
"""Name of the run of a row."""

SCRIPTED_JUDGES = ("rubric", "by_length")
NEEDED = {"task", "length", "empty", "abstentions"}
"""Statistics required of every seat."""


@dataclass(frozen=True, kw_only=True)
class JudgedOptions(RowOptions):
    """Options of the rows of judged tasks."""

    matches: int = option(
        10,
        "tasks on which every pair of policies meets in both roles, begun anew where there are fewer; 0: all there are",
        smoke=2,
    )
    tasks: str = option(
        "", "file of tasks to draw from instead of the shipped ones; `writer_editor_v0` says in which forms"
    )
    judge: tuple[str, ...] = option(
        (), f"policies that judge every match, e.g. openai:MODEL (default: {' '.join(SCRIPTED_JUDGES)})"
    )

    def judges(self) -> tuple[str, ...]:
        """Returns the judges."""
        return self.judge or SCRIPTED_JUDGES


SCORES = (SCALE.low, SCALE.high)
"""Least and greatest score of a judge."""

APART = (SCALE.low - SCALE.high, SCALE.high - SCALE.low)
"""Least and greatest difference of two scores."""


class Scores(NamedTuple):
    """Scores by one judge, 1 to 10."""

    writer: float
    editor: float


@dataclass(frozen=True)
class JudgedMatch:
    """A finished match.

    Attributes:
        number: its number.
        seed: its seed; matches on the same task in the same cycle of the schedule share it.
        task: number of its task in the list.
        writer: the writer's seat.
        editor: the editor's seat.
        scores: scores by judge; ``None`` for a judge that abstained.
        is_scored: whether both roles have a score, the mean of the judges'.
        is_forfeited: whether an invalid reply ended it.
    """

    number: int
    seed: int
    task: int
    writer: SeatOutcome
    editor: SeatOutcome
    scores: Mapping[str, Scores | None]
    is_scored: bool
    is_forfeited: bool

    def seat(self, role: str) -> SeatOutcome:
        """Returns the seat of a role, ``writer`` or ``editor``."""
        return self.writer if role == "writer" else self.editor


def plan_tasks(options: JudgedOptions, environment: str, task: Mapping[str, Any]) -> dict[str, RunConfig]:
    """Returns a run with every pair of policies in both role assignments on each task.

    Args:
        options: of the row.
        environment: name of the environment, with a label.
        task: environment options that select the kind of task.

    Raises:
        OptionError: if an option has no valid value, or there are fewer than two policies.
    """
    check_int("matches", options.matches, 0, 100_000)
    judges = options.judges()
    own = {"tasks": str(Path(options.tasks).resolve())} if options.tasks else {}
    item = EnvironmentConfig(
        name=environment,
        options={**task, **own, "n_judges": len(judges), "language": options.language},
        staff={"judge": list(judges)},
    )
    order = np.random.default_rng(options.seed).permutation(_count(item.options))
    chosen = order[: options.matches] if options.matches else order
    item = item.model_copy(update={"by_deal": {"number": chosen.tolist()}})
    config = plan_run(options, [item], stop={}, scripted=SCRIPTED)
    others = max(1, len(config.pool(environment)) - 1)
    matches = 2 * others * (options.matches or len(order))
    return {
        TASKS: config.model_copy(
            update={"stop": config.stop.model_copy(update={"matches": matches, "max_matches": max(400, matches)})}
        )
    }


def _count(options: Mapping[str, Any]) -> int:
    """Returns the number of available tasks."""
    tasks = options.get("tasks")
    if options["task"] == CODE_REVIEW:
        return len(load_problems(tasks))
    return len(load_documents(tasks, Languages(options["src_lang"], options["tgt_lang"])))


def describe_size(config: RunConfig, environment: str) -> str:
    """Returns the number of cases of a planned run, and the work of its judges."""
    players = len(config.pool(environment))
    tasks = config.stop.matches // (2 * max(1, players - 1))
    judges = len(config.find_environment(environment).staff["judge"])
    return (
        f"n = {tasks} tasks for each of {players * (players - 1)} ordered pairs: of one pair, {rate_precision(tasks)};"
        f" every judge ({judges}) rates {tasks * players * (players - 1)} matches"
    )


def check_task(run: PlayedRun, environment: str, task: Mapping[str, Any]) -> None:
    """Checks that a run has the given kind of task.

    Raises:
        OptionError: if it has another one.
    """
    found = {"task": "code_review", **run.config.options(environment)}
    for key, value in task.items():
        if found.get(key) != value:
            raise OptionError(
                f"{run.directory}: {environment}: expected a run with {key} = {value!r}, got {found.get(key)!r:.80};"
                " compute it with the row of that task"
            )


def judged_matches(run: PlayedRun, environment: str) -> list[JudgedMatch]:
    """Returns the finished matches of a run, in match-number order.

    Raises:
        RunError: if no match is finished, or statistics are missing.
    """
    outcomes = sorted(run.outcomes(environment), key=lambda outcome: outcome.number)
    matches = [_match(run, outcome) for outcome in outcomes if outcome.status in (FINISHED, UNDECIDED)]
    if not matches:
        raise RunError(f"{run.directory}: expected matches of {environment}, but none has ended yet")
    return matches


def _match(run: PlayedRun, outcome: Outcome) -> JudgedMatch:
    seats = {seat.agent: seat for seat in rated_seats(outcome)}
    if seats.keys() != {"writer_0", "editor_0"} or any(NEEDED - seat.statistics.keys() for seat in outcome.seats):
        raise RunError(
            f"{run.directory}: match {outcome.number}: expected a writer and an editor with {', '.join(sorted(NEEDED))}"
        )
    judges = staff_seats(outcome)
    names = [seat.policy for seat in judges]
    is_forfeited = any(seat.forfeit for seat in outcome.seats)
    return JudgedMatch(
        outcome.number,
        outcome.seed,
        int(seats["writer_0"].statistics["task"]),
        seats["writer_0"],
        seats["editor_0"],
        {
            seat.policy if names.count(seat.policy) == 1 else f"{seat.policy} ({seat.agent})": _scores(seat)
            for seat in judges
        },
        outcome.status == FINISHED and not is_forfeited,
        is_forfeited,
    )


def _scores(seat: SeatOutcome) -> Scores | None:
    writer, editor = (known(seat, name) for name in ("score_writer", "score_editor"))
    return None if writer is None or editor is None else Scores(writer, editor)


def scored(matches: Iterable[JudgedMatch]) -> list[JudgedMatch]:
    """Returns the matches with scores."""
    return [match for match in matches if match.is_scored]


def known(seat: SeatOutcome, name: str) -> float | None:
    """Returns a statistic of a seat, or ``None`` if it is unknown."""
    value = seat.statistics.get(name, UNKNOWN)
    return None if value == UNKNOWN else value
