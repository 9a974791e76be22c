"""The ablation of the user: a user that reacts to the answers, against fixed scripts (SimulBench, arXiv 2409.07641).

The paper extracts scripts from dialogues to give all models the same requests: a reactive user sends different requests to each
model, as in its example of a password generator, with requests of 11, 16 and 28 characters to three models. Here this effect is
measured. Every simulator talks to the user on the same tasks, several times; then every simulator answers the last request of
every dialogue, its own and the others', as a fixed script. The difficulty of the requests to a simulator is the mean score of
all simulators on them.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any, NamedTuple

from agents.baselines.simulation.right_answers import has_engine
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from benchmarks.simulbench.answers import Answered, answered
from benchmarks.simulbench.collect import Collected, dialogues_of
from benchmarks.simulbench.inputs import LabelledScript, read_tasks, refusal_notes, script_fields, task_fields
from benchmarks.simulbench.pool import (
    JUDGES,
    SCRIPTED,
    SIMULATION,
    USER_TEMPERATURE,
    USER_TOKENS,
    as_role,
    chosen,
    playable,
    simulators,
    with_staff,
)
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.dialogues import extract_scripts
from llmarena_envs.simulation.protocol import DIALOGUE, SCALE, SCRIPT
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig, StopConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate, signed_mean
from rating.stats.results import rated_seats

DIALOGUES, SCRIPTS = "dialogues", "scripts"

REACTING = "user:hard=1,adversarial=0,complaints=1"
"""A user of engines that asks for something harder after a right answer, and repeats the request after a wrong one."""

NOT_CONTENT, HARDER = 1, 3
"""Strategies of the user."""

_LENGTH = SCALE.high - SCALE.low
_WIDEST = _LENGTH * _LENGTH / 2
"""Maximum variance of two or more ratings, estimated from a sample."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    tasks: str = option("", "file of tasks (default: those that come with the package)")
    number: int = option(16, "how many tasks at most, drawn by seed; 0 for all", smoke=3)
    repeat: int = option(3, "dialogues on each task, and answers to each script", smoke=2)
    turns: int = option(4, "answers in each dialogue", smoke=3)
    user: str = option(REACTING, "the policy that makes the requests, e.g. openai:MODEL")
    judge: tuple[str, ...] = option(
        (), f"policies that judge every answer, e.g. openai:MODEL (default: {' '.join(JUDGES)})"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("number", self.number, 0, 1_000_000)
        check_int("repeat", self.repeat, 2, 1_000)


class Scored(NamedTuple):
    """The score of an answer.

    Attributes:
        simulator: the policy that answered.
        source: the simulator in the dialogue with the request.
        task: the task.
        case: the repeated case: the script, or the task of a dialogue.
        score: 1 to 10.
    """

    simulator: str
    source: str
    task: str
    case: str
    score: float


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the dialogues of every simulator with the user."""
    judges = options.judge or JUDGES
    players = [*simulators(options, SCRIPTED), *judges]
    tasks = [
        task
        for task in playable(read_tasks(options.tasks, options.language).rows, options.turns, options.user, players)
        if options.user != REACTING or has_engine(task)
    ]
    tasks = [tasks[number] for number in chosen(len(tasks), options.number, options.seed)]
    user = as_role(options.user, "user", temperature=USER_TEMPERATURE, max_tokens=USER_TOKENS)
    environment = EnvironmentConfig(
        name=SIMULATION,
        options={
            "mode": DIALOGUE,
            "turns": options.turns,
            "n_judges": len(judges),
            "number": 0,
            "language": options.language,
        },
        by_deal={"tasks": [[task_fields(task)] for task in tasks]},
        scheme="self_play",
        staff={"user": [user.title], "judge": list(judges)},
    )
    config = plan_run(options, [environment], scripted=SCRIPTED, stop={"matches": len(tasks) * options.repeat})
    return {DIALOGUES: with_staff(config, user)}


def follow_up(runs: Mapping[str, PlayedRun], options: Options) -> dict[str, RunConfig]:
    """Returns the answers of every simulator to the last request of every dialogue, by the judges of the dialogues."""
    config = runs[DIALOGUES].config
    talked = config.find_environment(SIMULATION)
    found, _ = dialogues_of(runs[DIALOGUES])
    scripts = [_as_script(each) for each in found]
    repeat = max(1, config.stop.matches // len(talked.by_deal["tasks"])) if config.stop.matches else options.repeat
    settings: dict[str, Any] = {
        name: talked.options[name] for name in ("n_judges", "number", "language") if name in talked.options
    }
    environment = EnvironmentConfig(
        name=SIMULATION,
        options={"mode": SCRIPT, **settings},
        by_deal={
            "scripts": [[script_fields(each)] for each in scripts],
            "tasks": [[task_fields(each.task)] for each in scripts],
        },
        scheme="self_play",
        staff={"judge": talked.staff["judge"]},
    )
    matches = repeat * len(scripts)
    stop = StopConfig(matches=matches, max_matches=max(matches, StopConfig().max_matches))
    named = {*talked.staff["judge"], *config.pool(SIMULATION)}
    policies = [policy for policy in config.policy if policy.title in named]
    return {SCRIPTS: config.model_copy(update={"environment": [environment], "policy": policies, "stop": stop})}


def _as_script(found: Collected) -> LabelledScript:
    """Returns the last request of a dialogue as a script, labelled by the simulator of the dialogue."""
    (script,) = extract_scripts(found.dialogue, 0)
    return LabelledScript(script, found.simulator, found.dialogue.task)


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the variation of scores with the user and with fixed scripts, and the difficulty of the requests to each simulator.

    Raises:
        RunError: if the scripts have no answers.
    """
    run = runs[DIALOGUES]
    if SCRIPTS not in runs:
        raise RunError(
            f"{run.directory}: expected a run {SCRIPTS!r} beside it, in which the requests are answered again"
        )
    found, notes = dialogues_of(run)
    dynamic, fixed = scores_of_dialogues(run, found), scores_of_scripts(answered(runs[SCRIPTS]))
    drift = difficulties(fixed)
    return Result(
        [difficulty_table(found, fixed, drift), variance_table(dynamic, fixed), score_table(dynamic, fixed)],
        {
            "difficulty": estimates(
                drift,
                "points that all simulators get on the requests of one, less the mean, with 95 % interval",
                lines={"as hard": 0.0},
            )
        },
        notes=[
            *notes,
            f"dialogues without a rating: {len(found) - len(dynamic)}; answers to scripts without one:"
            f" {len(answered(runs[SCRIPTS])) - len(fixed)}",
            "the paper's example of requests that differ: passwords of 11, 16 and 28 characters for three models",
            *refusal_notes(read_tasks(options.tasks, options.language)),
        ],
    )


def scores_of_dialogues(run: PlayedRun, found: Iterable[Collected]) -> list[Scored]:
    """Returns the scores of the last answers of dialogues; answers without a rating are left out."""
    talks = {each.match: each for each in found}
    scores = []
    for outcome in run.outcomes(SIMULATION):
        talk = talks.get(outcome.number)
        rated = any(seat.statistics.get("rating", 0) >= SCALE.low for seat in outcome.seats)
        if talk is None or not rated or any(seat.forfeit for seat in outcome.seats):
            continue
        (seat,) = rated_seats(outcome)
        task = talk.dialogue.source_id
        scores.append(Scored(talk.simulator, talk.simulator, task, task, seat.reward))
    return scores


def scores_of_scripts(answers: Iterable[Answered]) -> list[Scored]:
    """Returns the scores of answers to scripts; answers without a rating are left out."""
    return [
        Scored(each.simulator, each.label, each.script.source_id, each.script.id, each.score)
        for each in answers
        if each.score is not None
    ]


def by_task(scores: Iterable[Scored]) -> dict[str, list[Scored]]:
    """Returns scores by task."""
    found: dict[str, list[Scored]] = defaultdict(list)
    for each in scores:
        found[each.task].append(each)
    return found


def difficulties(fixed: Sequence[Scored]) -> dict[str, Estimate | None]:
    """Returns by source the mean score of all simulators on its requests minus the mean over all sources, task by task.

    Tasks with scripts of some sources only are left out: all sources have the same tasks.
    """
    sources = list(dict.fromkeys(each.source for each in fixed))
    deviations: dict[str, list[float]] = {source: [] for source in sources}
    for own in by_task(fixed).values():
        scores = {source: [each.score for each in own if each.source == source] for source in sources}
        if all(scores.values()):
            means = {source: fmean(each) for source, each in scores.items()}
            for source, mean in means.items():
                deviations[source].append(mean - fmean(means.values()))
    return {source: _signed(values, _LENGTH) for source, values in deviations.items()}


def variances(scores: Iterable[Scored]) -> dict[str, float]:
    """Returns by task the mean variance of the scores of repeated cases; tasks without repeated cases are left out."""
    found: dict[str, float] = {}
    for task, own in by_task(scores).items():
        cases: dict[tuple[str, str], list[float]] = defaultdict(list)
        for each in own:
            cases[each.simulator, each.case].append(each.score)
        repeated = [variance(values) for values in cases.values() if len(values) > 1]
        if repeated:
            found[task] = fmean(repeated)
    return found


def difficulty_table(
    found: Sequence[Collected], fixed: Sequence[Scored], drift: Mapping[str, Estimate | None]
) -> Table:
    """Returns the requests to every simulator, and their difficulty."""
    rows: list[list[Cell]] = []
    for source, deviation in drift.items():
        talks = [each for each in found if each.simulator == source]
        strategies = [(each, strategy) for each in talks for strategy in each.strategies]
        tasks = [each.dialogue.source_id for each, _ in strategies]
        shares = [
            percent(bounded_mean([float(strategy == wanted) for _, strategy in strategies], tasks))
            for wanted in (HARDER, NOT_CONTENT)
        ]
        lengths = [float(len(each.dialogue.dialogue_history[-2].content)) for each in talks]
        length = mean_estimate(lengths, [each.dialogue.source_id for each in talks], scale=(0, math.inf))
        own = [each for each in fixed if each.source == source]
        rows.append([source, *shares, length, _mean(own), deviation])
    return Table(
        "difficulty",
        "drift of difficulty: the requests that every simulator met",
        [
            Column("dialogues of"),
            Column("requests for something harder, %", MEASURED, 1),
            Column("requests by a user who is not content, %", MEASURED, 1),
            Column("length of the last request, characters", MEASURED, 0),
            Column("mean score of all simulators on the last requests", MEASURED),
            Column("the same less the mean of all dialogues, points", MEASURED),
        ],
        rows,
        [
            "above 0: the user asked this simulator for easier things than others; below: for harder ones",
            "the last column is of tasks on which every simulator has a dialogue, (n): tasks; intervals are clustered by task",
        ],
    )


def variance_table(dynamic: Sequence[Scored], fixed: Sequence[Scored]) -> Table:
    """Returns the variance of scores between repeats, with the user and with fixed scripts."""
    rows: list[Cells] = []
    for simulator in dict.fromkeys(each.simulator for each in (*dynamic, *fixed)):
        live, still = (variances(each for each in scores if each.simulator == simulator) for scores in (dynamic, fixed))
        change = _signed([live[task] - still[task] for task in live if task in still], _WIDEST)
        rows.append(
            {
                Column("simulator"): simulator,
                Column("with the user", MEASURED): _variance(live.values()),
                Column("on fixed scripts", MEASURED): _variance(still.values()),
                Column("with the user less on fixed scripts", MEASURED): change,
            }
        )
    return Table.of(
        "variance",
        "variance of scores between repeats, points squared",
        rows,
        [
            "with the user: dialogues on the same task; on fixed scripts: answers to the same script; (n): tasks",
            "on fixed scripts what varies is the simulator's answer and the judge; with the user the requests do too",
        ],
    )


def score_table(dynamic: Sequence[Scored], fixed: Sequence[Scored]) -> Table:
    """Returns the scores of simulators with the user, and on common fixed scripts."""
    rows: list[Cells] = []
    for simulator in dict.fromkeys(each.simulator for each in (*dynamic, *fixed)):
        live, still = ([each for each in scores if each.simulator == simulator] for scores in (dynamic, fixed))
        live_tasks, still_tasks = by_task(live), by_task(still)
        changes = [
            fmean(each.score for each in own) - fmean(each.score for each in still_tasks[task])
            for task, own in live_tasks.items()
            if task in still_tasks
        ]
        rows.append(
            {
                Column("simulator"): simulator,
                Column("with the user", MEASURED): _mean(live),
                Column("on fixed scripts", MEASURED): _mean(still),
                Column("with the user less on fixed scripts", MEASURED): _signed(changes, _LENGTH),
            }
        )
    return Table.of(
        "scores",
        "mean scores, 1 to 10",
        rows,
        [
            "fixed scripts: the last requests of all dialogues, the same ones for every simulator",
            "intervals are clustered by task; the last column is paired by task, (n): tasks",
        ],
    )


def _mean(scores: Sequence[Scored]) -> Estimate | None:
    found = bounded_mean([(each.score - SCALE.low) / _LENGTH for each in scores], [each.task for each in scores])
    return found and _scaled(found, _LENGTH, SCALE.low)


def _variance(values: Iterable[float]) -> Estimate | None:
    found = bounded_mean([min(1.0, value / _WIDEST) for value in values])
    return found and _scaled(found, _WIDEST)


def _signed(values: Sequence[float], scale: float) -> Estimate | None:
    found = signed_mean([max(-1.0, min(1.0, value / scale)) for value in values])
    return found and _scaled(found, scale)


def _scaled(estimate: Estimate, factor: float, start: float = 0.0) -> Estimate:
    value, low, high = (
        None if end is None else start + factor * end for end in (estimate.value, estimate.low, estimate.high)
    )
    assert value is not None
    return estimate._replace(value=value, low=low, high=high)


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    config = plan(options)[DIALOGUES]
    matches, players = config.stop.matches, len(config.pool(SIMULATION))
    scripts = matches * players
    return (
        f"n = {matches // options.repeat} tasks, by which intervals are clustered, {matches} dialogues of each of {players}"
        f" simulators; then each of them answers the last requests of these dialogues, {scripts} at most, {options.repeat} times"
        f" each; every judge rates up to {scripts * (1 + players * options.repeat)} answers"
    )


ROW = Row(
    title="ablation: a user who reacts to the answers, against fixed scripts",
    source="SimulBench, its reason for fixed scripts",
    options=Options,
    plan=plan,
    follow_up=follow_up,
    measure=measure,
    precision=precision,
    shows=(
        "It shows whether the user asks good simulators for harder things than bad ones, and how much scores vary between repeats"
        " with the user and on fixed scripts."
    ),
    does_not_show=(
        "It does not show what a model would ask for: the scripted user asks for something hard after a right answer and for the"
        " same again after a wrong one, and the scripted simulators err on hard requests by design. Only the last requests"
        " are answered again. A history with errors of others in it may be hard by itself."
    ),
)
