"""Two simulators' answers to the same scripts, compared by judges in both orders: plans, and reading from runs.

Every pair of simulators meets once on each script: a run has an environment for each simulator but the last one; all later
simulators play against it (the scheme ``field``). Sides alternate between scripts; judges see both orders anyway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.runs import PlayedRun
from benchmarks.options import option
from benchmarks.simulbench.answers import (
    ScriptOptions,
    check_truth,
    judge_names,
    omissions,
    response_of,
    script_environment,
    script_in,
    scripts_for,
)
from benchmarks.simulbench.both_orders import PairwiseShares, compare
from benchmarks.simulbench.pool import SCRIPTED, SIMULATION, simulators
from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.simulation.labels import SUBSETS, belongs
from llmarena_envs.simulation.protocol import PAIRWISE
from llmarena_envs.simulation.scripts import Script
from rating.config.run_file import RunConfig
from rating.errors import RunError
from rating.stats.results import rated_seats, staff_seats
from rating.store.records import PLAYED, Record, SeatOutcome

RUN = "comparisons"

_FIRST_WINS = {0.0: 1.0, 1.0: 0.0, 2.0: 0.5}
"""Value of a verdict for the simulator on the first seat."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ScriptOptions):
    """Options of the rows that compare simulators."""

    subset: str = option("Hard", f"the scripts that are answered: {', '.join(SUBSETS)}")
    number: int = option(0, "how many of them at most, drawn by seed; 0 for all", smoke=8)


class Compared(NamedTuple):
    """A comparison of two answers to a script. Sides are in the order of the pair, not of the seats.

    Attributes:
        match: number of the match in its environment.
        script: the script.
        label: of the script.
        pair: the simulators, in the order of the run file.
        verdicts: by judge, in both orders: 1 if the first of the pair is preferred, 0 if the other one is,
            0.5 for neither, ``None`` for no verdict.
        result: combined verdict of all judges on the same scale; ``None`` without a verdict, or if the match was forfeited.
        responses: the answers.
    """

    match: int
    script: Script
    label: str
    pair: tuple[str, str]
    verdicts: dict[str, tuple[float | None, float | None]]
    result: float | None
    responses: tuple[str, str]


def plan_comparisons(options: CompareOptions) -> dict[str, RunConfig]:
    """Returns a run of every pair of simulators on every script of a subset.

    Raises:
        OptionError: if there are fewer than two simulators, or the subset is empty.
    """
    check_choice("subset", options.subset, SUBSETS)
    scripts = scripts_for(options, options.subset)
    check_truth(scripts, [*simulators(options, SCRIPTED), *options.judges()])
    base = script_environment(options, PAIRWISE, scripts, scheme="field")
    config = plan_run(options, [base], scripted=SCRIPTED, stop={"matches": len(scripts)})
    first, *others = config.policy
    if not others:
        raise OptionError(f"policy: expected two simulators or more to compare, got {first.title!r} alone")
    labels = [f"{SIMULATION}#{number}" for number in range(1, len(config.policy))]
    environments = [
        base.model_copy(update={"name": label, "opponent": policy.title})
        for label, policy in zip(labels, config.policy, strict=False)
    ]
    policies = [
        policy.model_copy(update={"environments": labels[: number + 1]}) for number, policy in enumerate(others)
    ]
    opponent = first.model_copy(update={"rated": False})
    return {RUN: config.model_copy(update={"environment": environments, "policy": [opponent, *policies]})}


def describe_size(options: CompareOptions) -> str:
    """Returns the planned number of cases."""
    config = plan_comparisons(options)[RUN]
    pairs, scripts = len(config.policy) * (len(config.policy) - 1) // 2, config.stop.matches
    return (
        f"n = {scripts} scripts for each of {pairs} pairs; every judge ({len(options.judges())}) compares"
        f" {2 * pairs * scripts} times, in both orders"
    )


def compared(run: PlayedRun) -> list[Compared]:
    """Returns the comparisons of a run, each script once for each pair.

    Raises:
        RunError: if the run has no comparisons, or none has ended.
    """
    order = {policy.title: place for place, policy in enumerate(run.config.policy)}
    found: dict[tuple[tuple[str, str], str], Compared] = {}
    for environment in run.environments():
        for record in run.records(environment, PLAYED):
            each = _compared(run, record, order)
            found.setdefault(
                (each.pair, each.script.id), each
            )  # with an odd number of scripts the last seat starts again
    if not found:
        raise RunError(f"{run.directory}: expected comparisons of two simulators, but none has ended yet")
    return sorted(found.values(), key=lambda each: tuple(order[name] for name in each.pair))


def _compared(run: PlayedRun, record: Record, order: dict[str, int]) -> Compared:
    script, label = script_in(run, record, PAIRWISE)
    assert record.outcome is not None
    seats, judges = rated_seats(record.outcome), staff_seats(record.outcome)
    first, second = sorted(seats, key=lambda seat: order.get(seat.policy, len(order)))
    is_exchanged = first is not seats[0]
    said = {turn.agent: response_of(turn.agent, turn.action) for turn in record.turns}
    forfeited = any(seat.forfeit for seat in record.outcome.seats)
    return Compared(
        record.match.number,
        script,
        label,
        (first.policy, second.policy),
        {
            name: (_verdict(judge, "verdict", is_exchanged), _verdict(judge, "verdict_swapped", is_exchanged))
            for name, judge in zip(judge_names(judges), judges, strict=True)
        },
        None if forfeited else _verdict(seats[0], "winner", is_exchanged),
        (said.get(first.agent, ""), said.get(second.agent, "")),
    )


def _verdict(seat: SeatOutcome, name: str, is_exchanged: bool) -> float | None:
    score = _FIRST_WINS.get(seat.statistics.get(name, -1.0))
    return None if score is None else 1 - score if is_exchanged else score


def by_pair(comparisons: Iterable[Compared]) -> dict[tuple[str, str], list[Compared]]:
    """Returns comparisons by pair."""
    found: dict[tuple[str, str], list[Compared]] = {}
    for each in comparisons:
        found.setdefault(each.pair, []).append(each)
    return found


def within(comparisons: Iterable[Compared], subset: str) -> list[Compared]:
    """Returns the comparisons on scripts of a subset."""
    return [each for each in comparisons if belongs(each.label, each.script.type, subset)]


def summary(comparisons: Sequence[Compared]) -> PairwiseShares:
    """Returns the combined shares of all judges for a pair, with intervals clustered by task."""
    results = [(each.result, each.result) for each in comparisons]
    return compare(results, [each.script.source_id for each in comparisons])


def judge_summary(comparisons: Sequence[Compared], judge: str) -> PairwiseShares:
    """Returns one judge's shares, with its consistency over both orders."""
    own = [each for each in comparisons if judge in each.verdicts]
    return compare([each.verdicts[judge] for each in own], [each.script.source_id for each in own])


def left_out(run: PlayedRun, comparisons: Iterable[Compared], options: ScriptOptions) -> list[str]:
    """Returns notes on the matches without a result, and on refused records of the run's files."""
    return omissions(run, options, "without a verdict, or forfeited", sum(each.result is None for each in comparisons))
