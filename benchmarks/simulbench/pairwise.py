"""Pairs of simulators on the hard scripts: wins, ties, losses and their difference (SimulBench, Table 1)."""

from collections.abc import Mapping, Sequence

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import (
    MEASURED,
    PUBLISHED,
    Cell,
    Cells,
    Column,
    Table,
    beside,
    paired_columns,
    percent,
)
from benchmarks.simulbench.both_orders import PairwiseShares
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
    within,
)
from rating.errors import RunError

HARD = "Hard"
_VERSUS = " vs. "


def measure(runs: Mapping[str, PlayedRun], options: CompareOptions) -> Result:
    """Returns the pairs beside the published ones.

    Raises:
        RunError: if the run has no hard scripts.
    """
    run = runs[RUN]
    found = within(compared(run), HARD)
    if not found:
        raise RunError(f"{run.directory}: expected comparisons on scripts of the subset {HARD}, got none")
    pairs = oriented(by_pair(found), options.published_as())
    results = {name: summary(own) for name, own in pairs.items()}
    return Result(
        [share_table(results, options.published_as()), count_table(pairs), consistency_table(pairs)],
        {
            "delta": estimates(
                {name: percent(result.delta) for name, result in results.items()},
                "win less lose, points, with 95 % interval",
                lines={"no difference": 0.0},
            )
        },
        notes=[
            *left_out(run, found, options),
        ],
    )


def oriented(pairs: Mapping[tuple[str, str], Sequence[Compared]], same: Mapping[str, str]) -> dict[str, list[Compared]]:
    """Returns comparisons by the name of the pair, reversed if the published pair has the other order.

    Args:
        pairs: comparisons by pair.
        same: our policy by published model.
    """
    published = {
        tuple(same.get(model, "") for model in name.split(_VERSUS))
        for name in load_published("benchmarks.simulbench")["T1"].rows
    }
    found = {}
    for (first, second), own in pairs.items():
        turned = (second, first) in published
        name = _VERSUS.join((second, first) if turned else (first, second))
        found[name] = [_turned(each) for each in own] if turned else list(own)
    return found


def _turned(each: Compared) -> Compared:
    """Returns a comparison with the pair reversed."""

    def other(score: float | None) -> float | None:
        return None if score is None else 1 - score

    verdicts = {judge: (other(one), other(swapped)) for judge, (one, swapped) in each.verdicts.items()}
    return each._replace(
        pair=each.pair[::-1], verdicts=verdicts, result=other(each.result), responses=each.responses[::-1]
    )


def share_table(results: Mapping[str, PairwiseShares], same: Mapping[str, str]) -> Table:
    """Returns wins, ties and losses in per cent, beside the published ones."""
    published = load_published("benchmarks.simulbench")["T1"]
    measured: dict[str, list[Cell]] = {
        name: [percent(each) for each in (result.wins, result.ties, result.losses, result.delta)]
        for name, result in results.items()
    }
    names = {name: _VERSUS.join(same.get(model, "") for model in name.split(_VERSUS)) for name in published.rows}
    return Table(
        "pairs",
        "pairs on hard scripts: the first of each pair wins, ties or loses",
        paired_columns(published.columns),
        beside(published.rows, measured, names),
        [
            f"published: {published.source}",
            *published.notes,
            "measured: (n): scripts; an answer wins if it is preferred in both orders; intervals are clustered by task",
        ],
    )


def count_table(pairs: Mapping[str, Sequence[Compared]]) -> Table:
    """Returns wins, ties and losses as counts of scripts."""
    published = load_published("benchmarks.simulbench")["T1_counts"]
    rows: list[list[Cell]] = [
        [name, int(sum(float(number or 0) for number in counts)), *counts, PUBLISHED]
        for name, counts in published.rows.items()
    ]
    for name, own in pairs.items():
        results = [each.result for each in own]
        counted = [results.count(score) for score in (1.0, 0.5, 0.0)]
        rows.append([name, sum(counted), *counted, MEASURED])
    return Table(
        "counts",
        "pairs on hard scripts: number of scripts",
        [Column("pair"), Column("scripts"), Column("win"), Column("tie"), Column("lose"), Column("source")],
        rows,
        [f"published: {published.source}", *published.notes],
    )


def consistency_table(pairs: Mapping[str, Sequence[Compared]]) -> Table:
    """Returns the consistency over both orders for every pair and judge."""
    rows: list[Cells] = []
    for name, own in pairs.items():
        for judge in dict.fromkeys(judge for each in own for judge in each.verdicts):
            result = judge_summary(own, judge)
            rows.append(
                {
                    Column("pair"): name,
                    Column("judge"): judge,
                    Column("swap consistency, %", MEASURED, 1): percent(result.consistent),
                    Column("without a verdict in one order", MEASURED): result.left_out,
                }
            )
    return Table.of(
        "consistency",
        "the same verdict in both orders",
        rows,
        ["not published; (n): scripts; intervals are clustered by task"],
    )


ROW = Row(
    title="pairs of simulators on the hard scripts, compared in both orders, with swap consistency",
    source="SimulBench, Table 1",
    options=CompareOptions,
    plan=plan_comparisons,
    measure=measure,
    precision=describe_size,
    shows="It shows whose answers to hard scripts are preferred, and how often judges change their mind with the order.",
    does_not_show=(
        "It does not show whether the preferred answer is right; and a judge that goes by the place of an answer makes ties here,"
        " not wins."
    ),
    any_manner=True,
)
