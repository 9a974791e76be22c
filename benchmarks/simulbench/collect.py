"""The collection of dialogues: a user and a simulator talk, three times on each task (SimulBench, section 2.3).

The dialogues are written as a file for ``extract``. There are no judges.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.experiments.file_names import file_name
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.published import load_published
from benchmarks.experiments.replays import played
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from benchmarks.simulbench.inputs import read_tasks, refusal_notes, task_fields
from benchmarks.simulbench.pool import (
    COLLECTED,
    SIMULATION,
    USER,
    USER_TEMPERATURE,
    USER_TOKENS,
    as_role,
    chosen,
    playable,
    simulators,
    with_staff,
)
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.actions import SIMULATOR, STRATEGIES
from llmarena_envs.simulation.dialogues import Dialogue, has_all_requests, write_dialogues
from llmarena_envs.simulation.protocol import DIALOGUE, UNKNOWN
from llmarena_envs.simulation.scripts import ASSISTANT, Message
from llmarena_envs.simulation.scripts import USER as USER_ROLE
from llmarena_envs.simulation.tasks import Task
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import bounded_mean
from rating.store.records import PLAYED

RUN = "dialogues"


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    tasks: str = option("", "file of tasks (default: those that come with the package)")
    number: int = option(0, "how many tasks at most, drawn by seed; 0 for all", smoke=4)
    dialogues: int = option(3, "dialogues on each task", smoke=1)
    turns: int = option(4, "answers in each dialogue")
    user: str = option(
        USER,
        "the policy that makes the requests, e.g. openai:MODEL",
    )
    temperature: float = option(USER_TEMPERATURE, "sampling temperature of a user whose spec names none")


class Collected(NamedTuple):
    """A played dialogue.

    Attributes:
        dialogue: the dialogue.
        simulator: the simulator.
        strategies: of the user, from the second turn on.
        exact: whether each answer equals the engine's; empty without an engine.
        empty: number of empty answers.
        match: number of its match.
    """

    dialogue: Dialogue
    simulator: str
    strategies: tuple[int, ...]
    exact: tuple[bool, ...]
    empty: int
    match: int


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run of every simulator on every task."""
    check_int("number", options.number, 0, 1_000_000)
    check_int("dialogues", options.dialogues, 1, 1_000)
    tasks = known_tasks(options)
    tasks = [tasks[number] for number in chosen(len(tasks), options.number, options.seed)]
    user = as_role(options.user, "user", temperature=options.temperature, max_tokens=USER_TOKENS)
    environment = EnvironmentConfig(
        name=SIMULATION,
        options={"mode": DIALOGUE, "turns": options.turns, "n_judges": 0, "number": 0, "language": options.language},
        by_deal={"tasks": [[task_fields(task)] for task in tasks]},
        scheme="self_play",
        staff={"user": [user.title]},
    )
    config = plan_run(options, [environment], scripted=COLLECTED, stop={"matches": len(tasks) * options.dialogues})
    return {RUN: with_staff(config, user)}


def known_tasks(options: Options) -> list[Task]:
    """Returns the tasks playable by all players."""
    tasks = read_tasks(options.tasks, options.language).rows
    return playable(tasks, options.turns, options.user, simulators(options, COLLECTED))


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the dialogues and their statistics."""
    run = runs[RUN]
    found, notes = dialogues_of(run)
    return Result(
        [count_table(found), simulator_table(found), strategy_table(found)],
        notes=[*notes, *refusal_notes(read_tasks(options.tasks, options.language))],
        files={"dialogues.jsonl": write_dialogues(each.dialogue for each in found)},
    )


def dialogues_of(run: PlayedRun) -> tuple[list[Collected], list[str]]:
    """Returns the whole dialogues of a run in match-number order, and notes on excluded ones.

    Raises:
        RunError: if there are no dialogues.
    """
    names = run.config.pool(SIMULATION)
    repetitions: Counter[tuple[str, str]] = Counter()
    found, left_out = (
        [],
        Counter(f"of status {outcome.status}" for outcome in run.outcomes(SIMULATION) if outcome.status not in PLAYED),
    )
    for record in run.records(SIMULATION, PLAYED):
        game = played(record).game
        assert record.outcome is not None
        seat = next(seat for seat in record.outcome.seats if seat.rated)
        repetitions[seat.policy, game.task.id] += 1
        if game.mode != DIALOGUE or game.turn < game.turns or game.messages[-1].speaker != SIMULATOR:
            left_out["that ended early"] += 1
            continue
        name = f"{file_name(seat.policy, names)}-{repetitions[seat.policy, game.task.id]}"
        messages = tuple(
            Message(ASSISTANT if each.speaker == SIMULATOR else USER_ROLE, each.text) for each in game.messages
        )
        task = game.task
        dialogue = Dialogue.of_task(task, f"{task.id}-{name}", name, messages)
        if not has_all_requests(dialogue):
            left_out["with an empty request"] += 1
            continue
        exact = [seat.statistics[f"exact_{turn}"] for turn in range(1, game.turns + 1)]
        found.append(
            Collected(
                dialogue,
                seat.policy,
                tuple(each.strategy for each in game.messages[2::2]),
                tuple(each == 1 for each in exact if each != UNKNOWN),
                sum(not each.text.strip() for each in game.messages[1::2]),
                record.match.number,
            )
        )
    if not found:
        raise RunError(f"{run.directory}: expected whole dialogues of {SIMULATION}, but there is none")
    return found, [f"dialogues left out, {reason}: {count}" for reason, count in left_out.items()]


def count_table(found: Sequence[Collected]) -> Table:
    """Returns the number of dialogues."""
    published = load_published("benchmarks.simulbench")["dialogues"]
    return Table(
        "dialogues",
        "number of dialogues",
        [Column("dialogues", PUBLISHED), Column("dialogues", MEASURED), Column("tasks", MEASURED)],
        [[*published.rows["all"], len(found), len({each.dialogue.source_id for each in found})]],
        [f"published: {published.source}", *published.notes],
    )


def simulator_table(found: Sequence[Collected]) -> Table:
    """Returns statistics of every simulator's answers."""
    rows: list[Cells] = []
    for name in dict.fromkeys(each.simulator for each in found):
        own = [each for each in found if each.simulator == name]
        hits = [(hit, each.dialogue.source_id) for each in own for hit in each.exact]
        rows.append(
            {
                Column("simulator"): name,
                Column("dialogues", MEASURED): len(own),
                Column("answers", MEASURED): sum(each.dialogue.turns for each in own),
                Column("exact, % of answers on engines", MEASURED, 1): percent(
                    bounded_mean([float(hit) for hit, _ in hits], [task for _, task in hits])
                ),
                Column("empty answers", MEASURED): sum(each.empty for each in own),
            }
        )
    return Table.of(
        "simulators",
        "what simulators answered",
        rows,
        ["exact: what the engine answers; the interval is clustered by task"],
    )


def strategy_table(found: Sequence[Collected]) -> Table:
    """Returns the user's strategies, by turn."""
    turns = max(len(each.strategies) for each in found)
    rows: list[list[Cell]] = []
    for turn in range(turns):
        given = [each.strategies[turn] for each in found if len(each.strategies) > turn]
        rows.append([turn + 2, len(given), *(given.count(strategy) for strategy in STRATEGIES)])
    return Table(
        "strategies",
        "strategies of the user by turn",
        [
            Column("turn"),
            Column("requests", MEASURED),
            *(
                Column(title, MEASURED)
                for title in ("1: not content", "2: related", "3: rarer or harder", "4: another")
            ),
        ],
        rows,
        ["the first request is that of the task"],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    config = plan(options)[RUN]
    unknown = len(read_tasks(options.tasks, options.language).rows) - len(known_tasks(options))
    left_out = f"; {unknown} tasks left out, on which scripted players know no right answers" if unknown else ""
    return f"n = {config.stop.matches} dialogues of {options.turns} turns with each simulator{left_out}"


ROW = Row(
    title="step 2, collect: dialogues between a user and a simulator on every task",
    source="SimulBench, section 2.3",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows what users ask for and how often answers are exact, and writes the dialogues in the form that extract takes.",
    does_not_show=(
        "It does not show who simulates well: nobody judges the dialogues. The paper's user samples at temperature 1.2 with at"
        " most 300 tokens, which models have here unless their spec says otherwise."
    ),
    any_manner=True,
)
