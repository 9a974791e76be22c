"""Stableness: convergence of abilities, and the earliest possible stop (DeepEval, arXiv 2309.04369).

The ability of a player is its mean reward over its matches, in each role. The paper repeats a task until abilities converge, and
does not define convergence. ``benchmarks.deepeval.stableness`` has the definition used here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from benchmarks.deepeval.pool import SCRIPTED
from benchmarks.deepeval.stableness import Stableness, StablenessRule, stableness
from benchmarks.experiments.pictures import axes, legend_columns, line_style, plain
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import unfinished
from benchmarks.experiments.tables import MEASURED, Cells, Column, Table
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_choice, check_int
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import mean_estimate
from rating.stats.results import finished
from rating.store.records import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUN = "matches"
PLAYED = ("public_goods_v0", "idiom_solitaire_v0")
"""Tasks that the row plays itself; tasks of writers and editors need judges and have their own rows."""

WRITING = ("writer_editor_v0", "writer_editor_v0#code_review", "writer_editor_v0#translation")
RULES = {
    "public_goods_v0": StablenessRule(window=10, eps=0.5, half_width=1.0),
    "idiom_solitaire_v0": StablenessRule(window=10, eps=0.05, half_width=0.1),
    **dict.fromkeys(WRITING, StablenessRule(window=10, eps=0.1, half_width=0.25)),
}
"""Convergence thresholds of each task, in units of its reward: coins, wins minus losses, scores of 1 to 10."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row.

    Raises:
        OptionError: if an option has no valid value.
    """

    task: str = option("public_goods_v0", "what is played; with --run, every task of the run is taken")
    matches: int = option(100, "matches of each policy", smoke=8)
    until_known: bool = option(False, "play until abilities are known closely enough, and --matches at most")
    window: int = option(10, "matches back with which an ability is compared, and in a row for which it must not move")
    eps: float = option(0.0, "an ability stands still if it changes by less; 0 for what suits the task")
    half_width: float = option(0.0, "half a 95 % interval that is narrow enough; 0 for what suits the task")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("task", self.task, PLAYED)
        check_int("window", self.window, 1, 1000)
        for name in ("eps", "half_width"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise OptionError(f"{name}: expected a number of 0 or more, got {getattr(self, name)!r}")

    def rule(self, task: str) -> StablenessRule:
        """Returns the convergence rule of a task."""
        own = RULES[task]
        return StablenessRule(self.window, self.eps or own.eps, self.half_width or own.half_width)


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns matches of one task; an existing run can have any task."""
    tasks = list(RULES) if options.run else [options.task]
    environments = [EnvironmentConfig(name=task, scheme="mean_reward") for task in tasks]
    scripted = {task: SCRIPTED.get(task, ("random",)) for task in tasks}
    if not options.until_known:
        return {RUN: plan_run(options, environments, scripted=scripted, stop={"matches": options.matches})}
    rule = options.rule(options.task)
    stop = {
        "half_width": rule.half_width,
        "min_matches": 2 * rule.window,
        "max_matches": options.matches,
    }
    return {RUN: plan_run(options, environments, scripted=scripted, stop=stop, ahead=1)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the course of the abilities in every task of the run.

    Raises:
        RunError: if no match of any task has ended.
    """
    run = runs[RUN]
    outcomes = {task: run.outcomes(task) for task in run.environments() if task in RULES}
    values = {task: own_values(own) for task, own in outcomes.items()}
    found = {task: stableness(own, options.rule(task)) for task, own in values.items() if own}
    if not found:
        raise RunError(f"{run.directory}: expected matches of {' or '.join(outcomes)}, but none has ended yet")
    tables = [verdict_table(run, found, options)]
    for task, result in found.items():
        tables.append(player_table(task, values[task], result, options.rule(task)))
    return Result(
        tables,
        {file_name(task): draw(task, result) for task, result in found.items()},
        [f"{task}: {note}" for task, own in outcomes.items() for note in unfinished(own)],
    )


def file_name(task: str) -> str:
    """Returns the name of a task with the sign before its label replaced, since links would read it as a page fragment."""
    return task.replace("#", "-")


def own_values(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Returns the rewards of every policy in match-number order, by role for tasks with several roles.

    A policy on several seats of one role has the mean of their rewards.
    """
    rewards: dict[tuple[str, str], list[float]] = {}
    for outcome in finished(outcomes):
        own: dict[tuple[str, str], list[float]] = {}
        for seat in outcome.seats:
            own.setdefault((seat.policy, seat.agent.rpartition("_")[0]), []).append(seat.reward)
        for key, paid in own.items():
            rewards.setdefault(key, []).append(fmean(paid))
    roles = {role for _, role in rewards}
    return {
        f"{policy}, {role}" if len(roles) > 1 else policy: values for (policy, role), values in sorted(rewards.items())
    }


def verdict_table(run: PlayedRun, found: Mapping[str, Stableness], options: Options) -> Table:
    """Returns for every task whether and why play could have stopped."""
    rows: list[Cells] = []
    for task, result in found.items():
        fewest = min(len(steps) for steps in result.steps.values())
        rows.append(
            {
                Column("task"): task,
                Column("verdict", MEASURED): result.reason or "not yet",
                Column("after matches", MEASURED): result.matches,
                Column("matches of each player", MEASURED): fewest,
                Column("stable after", MEASURED): result.stable,
                Column("narrow after", MEASURED): result.narrow,
                Column("why play stopped", MEASURED): run.stop_reason(task),
            }
        )
    return Table.of(
        "verdict",
        "after how many matches of each player its ability stood still",
        rows,
        [
            *(
                f"{task}: stable if no ability has changed by {rule.eps:g} or more over {rule.window} matches, {rule.window}"
                f" times in a row; narrow if every 95 % interval is below {rule.half_width:g} to either side; neither before"
                f" {2 * rule.window} matches"
                for task in found
                for rule in [options.rule(task)]
            ),
            "empty: it has not come to that",
            "why play stopped: count, after the wanted number; settled, where intervals were narrow; cap, at the limit",
        ],
    )


def player_table(task: str, values: Mapping[str, Sequence[float]], result: Stableness, rule: StablenessRule) -> Table:
    """Returns for every player its ability with its interval, and the number of matches until its own convergence."""
    rows: list[Cells] = []
    for name, own in values.items():
        alone, steps = stableness({name: own}, rule), result.steps[name]
        rows.append(
            {
                Column("player"): name,
                Column("ability", MEASURED): mean_estimate(own, scale=(0, math.inf)),
                Column("sd of a match", MEASURED): stdev(own) if len(own) > 1 else None,
                Column("half of the 95 % interval", MEASURED): steps[-1].half_width
                if math.isfinite(steps[-1].half_width)
                else None,
                Column(f"change over the last {rule.window} matches", MEASURED, 3): alone.changes[-1],
                Column("alone stable after", MEASURED): alone.stable,
                Column("alone narrow after", MEASURED): alone.narrow,
            }
        )
    return Table.of(
        file_name(task),
        f"{task}: abilities",
        rows,
        [
            "ability: mean reward of a match, with Student's 95 % interval over matches, and the number of matches; no interval"
            " if all were the same",
        ],
    )


def draw(task: str, result: Stableness) -> "Figure":
    """Draws the ability of every player after each of its matches, with its interval."""
    columns = legend_columns(list(result.steps))
    with axes(3.0 + 0.2 * -(-len(result.steps) // columns)) as (figure, (field,)):
        spread = [step.mean for steps in result.steps.values() for step in steps]
        for index, (name, steps) in enumerate(result.steps.items()):
            colour, line = line_style(index)
            spans = [step.half_width if math.isfinite(step.half_width) else math.nan for step in steps]
            low, high = ([step.mean + sign * span for step, span in zip(steps, spans, strict=True)] for sign in (-1, 1))
            field.plot(
                range(1, len(steps) + 1), [step.mean for step in steps],
                label=plain(name), color=colour, linestyle=line, linewidth=1.2, marker="." if len(steps) == 1 else None,
            )  # fmt: skip
            field.fill_between(range(1, len(steps) + 1), low, high, color=colour, alpha=0.12, linewidth=0)
        if result.matches is not None:
            field.axvline(result.matches, color="black", linewidth=0.8, linestyle=(0, (1, 2)))
            field.annotate(
                f"{result.reason} after {result.matches}", (result.matches, 1), (4, -2),
                ("data", "axes fraction"), "offset points", va="top",
            )  # fmt: skip
        margin = 0.25 * (max(spread) - min(spread)) or 1.0
        field.set_ylim(min(spread) - margin, max(spread) + margin)
        field.set_xlabel(f"matches of the player at {task}")
        field.set_ylabel("mean reward, with 95 % interval")
        field.grid(alpha=0.3)
        figure.legend(loc="outside lower center", ncols=columns, frameon=False)
    return figure


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    most = "at most " if options.until_known else ""
    return f"n = {most}{options.matches} matches of each policy, each of which is a point of its curve"


ROW = Row(
    title="stableness: how abilities move over the matches, and after how many they stand still",
    source="DeepEval, repetition until abilities converge",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows after how many matches abilities stand still or are known closely enough. With --run it takes any run of the"
        " tasks, those of the other rows for instance."
    ),
    does_not_show=(
        "It does not show that who stands still is ranked rightly: a mean over many matches hardly moves any more, however close"
        " another one is. Whether two players differ is in the tests of the other rows."
    ),
    any_manner=True,
)
