"""The comparison of simulators: every pair answers the same scripts, and judges compare in both orders (SimulBench, section 2.5).

The comparisons are written as a file, one per line.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from benchmarks.simulbench.comparisons import (
    RUN,
    Compared,
    CompareOptions,
    by_pair,
    compared,
    describe_size,
    judge_summary,
    left_out,
    plan_comparisons,
    summary,
)


def measure(runs: Mapping[str, PlayedRun], options: CompareOptions) -> Result:
    """Returns the results of every pair, the consistency of every judge, and the comparisons."""
    run = runs[RUN]
    found = compared(run)
    return Result(
        [pair_table(found), judge_table(found)],
        notes=[
            *left_out(run, found, options),
        ],
        files={"comparisons.jsonl": write_comparisons(found)},
    )


def write_comparisons(comparisons: Iterable[Compared]) -> str:
    """Returns comparisons as JSON lines."""
    lines = []
    for each in comparisons:
        fields = {
            "id": each.script.id,
            "source_id": each.script.source_id,
            "act": each.script.act,
            "type": each.script.type,
            "source_file_name": each.script.source_file_name,
            "turn_num": each.script.turn_num,
            "label": each.label,
            "simulators": each.pair,
            "responses": each.responses,
            "verdicts": each.verdicts,
            "result": each.result,
        }
        lines.append(f"{json.dumps(fields, ensure_ascii=False)}\n")
    return "".join(lines)


def pair_table(comparisons: Sequence[Compared]) -> Table:
    """Returns wins, ties and losses of every pair."""
    rows: list[list[Cell]] = []
    for (first, second), own in by_pair(comparisons).items():
        result = summary(own)
        shares = [percent(each) for each in (result.wins, result.ties, result.losses, result.delta)]
        rows.append([first, second, len(own), *shares, result.left_out])
    return Table(
        "pairs",
        "how often the first of two simulators is preferred",
        [
            Column("first"),
            Column("second"),
            Column("scripts"),
            *(Column(title, MEASURED, 1) for title in ("win, %", "tie, %", "lose, %", "win less lose, points")),
            Column("without a result", MEASURED),
        ],
        rows,
        [
            "a judge prefers the answer that it calls better in both orders, else neither; most judges decide",
            "intervals are clustered by task",
        ],
    )


def judge_table(comparisons: Sequence[Compared]) -> Table:
    """Returns every judge's consistency over both orders."""
    rows: list[Cells] = []
    for judge in dict.fromkeys(name for each in comparisons for name in each.verdicts):
        result = judge_summary(comparisons, judge)
        pairs = [
            given
            for each in comparisons
            if None not in (given := each.verdicts.get(judge, (None, None))) and given[0] != given[1]
        ]
        opposite = sum(set(given) == {0.0, 1.0} for given in pairs)
        rows.append(
            {
                Column("judge"): judge,
                Column("comparisons"): len(comparisons),
                Column("the same verdict in both orders, %", MEASURED, 1): percent(result.consistent),
                Column("different verdicts", MEASURED): len(pairs),
                Column("of these, each order another winner", MEASURED): opposite,
                Column("without a verdict in one order", MEASURED): result.left_out,
            }
        )
    return Table.of(
        "judges",
        "whether judges say the same in both orders",
        rows,
        ["a judge that calls another simulator better in each order goes by the place of the answer"],
    )


ROW = Row(
    title="step 5, compare: every pair of simulators on the same scripts, compared in both orders",
    source="SimulBench, section 2.5",
    options=CompareOptions,
    plan=plan_comparisons,
    measure=measure,
    precision=describe_size,
    shows=(
        "It shows whose answers judges prefer and whether they say the same in both orders, and writes every comparison. Table 1"
        " of the paper can be computed from the same run: t1 with --run."
    ),
    does_not_show="It does not show by how much an answer is better, nor whether the preferred one is right.",
    any_manner=True,
)
