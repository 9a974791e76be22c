"""The evaluation of simulators: each answers every script once, and judges rate the last response (SimulBench, section 2.5).

The scores are written as a file, one answer per line. So are the scripts without those that got perfect scores only, as in
the paper.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from benchmarks.simulbench.answers import (
    RUN,
    Answered,
    ScriptOptions,
    answered,
    by_simulator,
    describe_size,
    left_out,
    mean_score,
    plan_answers,
)
from llmarena_envs.simulation.protocol import SCALE
from llmarena_envs.simulation.scripts import Difficulty, Script, write_scripts
from llmarena_envs.simulation.tasks import TYPES
from rating.stats.estimates import bounded_mean

STRATEGIES = {1: "not content", 2: "related", 3: "rarer or harder", 4: "another"}
"""Strategies of users, by their names in tables."""


def measure(runs: Mapping[str, PlayedRun], options: ScriptOptions) -> Result:
    """Returns the results of every simulator and judge, and the scores."""
    run = runs[RUN]
    answers = answered(run)
    kept, dropped = without_perfect(answers)
    means = {simulator: mean_score(own) for simulator, own in by_simulator(answers).items()}
    return Result(
        [simulator_table(answers), group_table(answers), judge_table(answers)],
        {"scores": estimates(means, "mean score, 1 to 10, with 95 % interval")},
        notes=[
            f"{dropped} of {len(kept) + dropped} scripts only ever got perfect scores; they are left out of the file of scripts",
            *left_out(run, answers, options),
        ],
        files={"scores.jsonl": write_scores(answers), "scripts.jsonl": write_scripts(kept)},
    )


def without_perfect(answers: Iterable[Answered]) -> tuple[list[Script], int]:
    """Returns the scripts with at least one imperfect score, and the number of the others."""
    scripts: dict[str, Script] = {}
    imperfect: set[str] = set()
    for each in answers:
        scripts[each.script.id] = each.script
        if each.score != SCALE.high:
            imperfect.add(each.script.id)
    kept = [script for name, script in scripts.items() if name in imperfect]
    return kept, len(scripts) - len(kept)


def write_scores(answers: Iterable[Answered]) -> str:
    """Returns answers with their scores as JSON lines."""
    lines = []
    for each in answers:
        fields = {
            "id": each.script.id,
            "source_id": each.script.source_id,
            "act": each.script.act,
            "type": each.script.type,
            "source_file_name": each.script.source_file_name,
            "turn_num": each.script.turn_num,
            "label": each.label,
            "strategy": each.script.strategy,
            "difficulty": each.script.difficulty,
            "simulator": each.simulator,
            "response": each.response,
            "ratings": each.ratings,
            "score": each.score,
            "exact": each.exact,
        }
        lines.append(f"{json.dumps(fields, ensure_ascii=False)}\n")
    return "".join(lines)


def simulator_table(answers: Sequence[Answered]) -> Table:
    """Returns scores and exactness of every simulator."""
    rows: list[Cells] = []
    for simulator, own in by_simulator(answers).items():
        known = [each for each in own if each.exact is not None]
        exact = bounded_mean([float(bool(each.exact)) for each in known], [each.script.source_id for each in known])
        empty = sum(not each.response.strip() for each in own)
        rows.append(
            {
                Column("simulator"): simulator,
                Column("answers"): len(own),
                Column("mean score", MEASURED): mean_score(own),
                Column("exact, % of answers on engines", MEASURED, 1): percent(exact),
                Column("empty answers", MEASURED): empty,
            }
        )
    return Table.of(
        "simulators",
        "what every simulator's answers got",
        rows,
        ["(n): answers; intervals are clustered by task; exact: what the engine answers"],
    )


def group_table(answers: Sequence[Answered]) -> Table:
    """Returns mean scores by type of task, and by strategy and difficulty of the last request if scripts have them."""
    by_group = {
        **{f"type: {kind}": [each for each in answers if each.script.type == kind] for kind in TYPES},
        **{
            f"difficulty: {difficulty}": [each for each in answers if each.script.difficulty == difficulty]
            for difficulty in get_args(Difficulty)
        },
        **{
            f"strategy {number}: {strategy}": [each for each in answers if each.script.strategy == number]
            for number, strategy in STRATEGIES.items()
        },
    }
    simulators = list(by_simulator(answers))
    rows: list[list[Cell]] = []
    for group, own in by_group.items():
        if own:
            means = [mean_score(each for each in own if each.simulator == simulator) for simulator in simulators]
            rows.append([group, len({each.script.id for each in own}), *means])
    return Table(
        "groups",
        "mean scores by type of task, difficulty and strategy of the last request",
        [Column("scripts that have"), Column("scripts"), *(Column(simulator, MEASURED) for simulator in simulators)],
        rows,
        ["(n): answers; intervals are clustered by task"],
    )


def judge_table(answers: Sequence[Answered]) -> Table:
    """Returns every judge's ratings."""
    names = dict.fromkeys(name for each in answers for name in each.ratings)
    rows: list[Cells] = []
    for name in names:
        given = [each.ratings[name] for each in answers if name in each.ratings]
        own = [each._replace(score=each.ratings.get(name)) for each in answers]
        rows.append(
            {
                Column("judge"): name,
                Column("answers"): len(given),
                Column("without a rating", MEASURED): given.count(None),
                Column("mean rating", MEASURED): mean_score(own),
            }
        )
    return Table.of("judges", "what every judge gave", rows)


ROW = Row(
    title="step 4, evaluate: every simulator answers every script, and judges rate the answers",
    source="SimulBench, section 2.5",
    options=ScriptOptions,
    plan=plan_answers,
    measure=measure,
    precision=describe_size,
    shows=(
        "It shows what judges give every simulator and how often its answers are exact, and writes every score. The tables of the"
        " paper can be computed from the same run: f2, f3a, f3b and t2 with --run."
    ),
    does_not_show=(
        "It does not show how good an answer is beyond what judges say of it, but on tasks with an engine. All rows are of one"
        " run, as in the paper; play again with another --seed to see how scores vary."
    ),
    any_manner=True,
)
