"""Answers to scripts, rated by judges: plans, and reading from runs.

A run file contains its scripts, one per deal, each with its label and its task; it depends on no other files.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agents.baselines.simulation.right_answers import ADVICE, is_known
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.row import RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.options import option
from benchmarks.simulbench.inputs import (
    LabelledScript,
    read_scripts,
    refusal_notes,
    script_fields,
    script_of,
    task_fields,
)
from benchmarks.simulbench.pool import JUDGES, SCRIPTED, SIMULATION, chosen, is_informed, simulators
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.simulation.labels import belongs
from llmarena_envs.simulation.protocol import SCALE, SCRIPT, UNKNOWN
from llmarena_envs.simulation.scripts import Script
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean
from rating.stats.results import rated_seats, staff_seats
from rating.store.records import PLAYED, Record, SeatOutcome

RUN = "answers"


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(RowOptions):
    """Options of the rows with answers to scripts."""

    scripts: str = option("", "file of scripts, as extract writes it (default: those that come with the package)")
    tasks: str = option("", "file of the tasks they are from, which names engines (default: the tasks of the package)")
    number: int = option(0, "how many scripts at most, drawn by seed; 0 for all", smoke=16)
    judge: tuple[str, ...] = option(
        (), f"policies that judge every answer, e.g. openai:MODEL (default: {' '.join(JUDGES)})"
    )

    def judges(self) -> tuple[str, ...]:
        """Returns the judges."""
        return self.judge or JUDGES


class Answered(NamedTuple):
    """An answer to a script.

    Attributes:
        match: number of the match.
        script: the script.
        label: of the script.
        simulator: the policy that answered.
        ratings: by judge; ``None`` for a judge that abstained.
        score: mean of the ratings; ``None`` without any, or if the match was forfeited.
        exact: whether it equals the engine's answer; ``None`` without an engine.
        response: the answer.
    """

    match: int
    script: Script
    label: str
    simulator: str
    ratings: dict[str, float | None]
    score: float | None
    exact: bool | None
    response: str


def scripts_for(options: ScriptOptions, subset: str = "All") -> list[LabelledScript]:
    """Returns the requested number of scripts of a subset.

    Raises:
        OptionError: if the subset is empty.
    """
    check_int("number", options.number, 0, 1_000_000)
    every = read_scripts(options.scripts, options.tasks, options.language).rows
    own = [each for each in every if belongs(each.label, each.script.type, subset)]
    if not own:
        raise OptionError(f"scripts: expected one in the subset {subset} or more, got none among {len(every)}")
    return [own[number] for number in chosen(len(own), options.number, options.seed)]


def script_environment(
    options: ScriptOptions, mode: str, scripts: Sequence[LabelledScript], **settings: Any
) -> EnvironmentConfig:
    """Returns the environment for answers to scripts, one script per deal.

    Args:
        options: of the row.
        mode: ``"script"`` or ``"pairwise"``.
        scripts: the scripts.
        **settings: further keys of the run file.
    """
    judges = options.judges()
    return EnvironmentConfig(
        name=SIMULATION,
        options={"mode": mode, "n_judges": len(judges), "number": 0, "language": options.language},
        by_deal={
            "scripts": [[script_fields(each)] for each in scripts],
            "tasks": [[task_fields(each.task)] for each in scripts],
        },
        staff={"judge": list(judges)},
        **settings,
    )


def check_truth(scripts: Sequence[LabelledScript], players: Iterable[str]) -> None:
    """Checks that scripted players know the right answers to all scripts.

    Raises:
        OptionError: if one of them does not know an answer.
    """
    informed = [spec for spec in players if is_informed(spec)]
    unknown = [each.script.id for each in scripts if not is_known(each.task, each.script.requests)] if informed else []
    if unknown:
        raise OptionError(
            f"scripts: {informed[0]!r} is scripted and does not know the right answers to {len(unknown)} of {len(scripts)}"
            f" scripts, the first {unknown[0]!r:.60}; {ADVICE}: --alone --policy openai:MODEL --judge openai:MODEL"
        )


def plan_answers(options: ScriptOptions) -> dict[str, RunConfig]:
    """Returns a run of every simulator on every script, with ratings by every judge."""
    scripts = scripts_for(options)
    check_truth(scripts, [*simulators(options, SCRIPTED), *options.judges()])
    environment = script_environment(options, SCRIPT, scripts, scheme="self_play")
    return {RUN: plan_run(options, [environment], scripted=SCRIPTED, stop={"matches": len(scripts)})}


def describe_size(options: ScriptOptions) -> str:
    """Returns the planned number of cases."""
    config = plan_answers(options)[RUN]
    scripts, judges = config.stop.matches, len(options.judges())
    players = len(config.pool(SIMULATION))
    return (
        f"n = {scripts} scripts of {len(_tasks(config))} tasks, by which intervals are clustered, for each of {players}"
        f" simulators; every judge ({judges}) rates {scripts * players} answers"
    )


def _tasks(config: RunConfig) -> set[str]:
    return {item[0]["source_id"] for item in config.find_environment(SIMULATION).by_deal["scripts"]}


def answered(run: PlayedRun) -> list[Answered]:
    """Returns the answers of a run in match-number order.

    Raises:
        RunError: if the run has no scripts, or no match has ended.
    """
    found = [_answered(run, record) for record in run.records(SIMULATION, PLAYED)]
    if not found:
        raise RunError(f"{run.directory}: expected matches of {SIMULATION}, but none has ended yet")
    return found


def script_in(run: PlayedRun, record: Record, mode: str) -> tuple[Script, str]:
    """Returns the script of a match and its label.

    Raises:
        RunError: if the match was played in another mode, or the run file does not hold its script.
    """
    options = record.match.options
    scripts = options.get("scripts")
    if options.get("mode") != mode or not isinstance(scripts, list) or len(scripts) != 1 or "label" not in scripts[0]:
        raise RunError(
            f"{run.directory}: match {record.match.number}: expected mode = {mode!r} and one script with its label, as a row of"
            f" benchmarks.simulbench plays it, got mode = {options.get('mode')!r:.40}"
        )
    return script_of(scripts[0]), str(scripts[0]["label"])


def _answered(run: PlayedRun, record: Record) -> Answered:
    script, label = script_in(run, record, SCRIPT)
    assert record.outcome is not None
    (seat,) = rated_seats(record.outcome)
    judges = staff_seats(record.outcome)
    ratings = {name: _known(judge, "rating") for name, judge in zip(judge_names(judges), judges, strict=True)}
    forfeited = any(each.forfeit for each in record.outcome.seats)
    given = [rating for rating in ratings.values() if rating is not None]
    exact = _known(seat, "exact")
    said = [turn.action for turn in record.turns if turn.agent == seat.agent]
    return Answered(
        record.match.number,
        script,
        label,
        seat.policy,
        ratings,
        None if forfeited or not given else seat.reward,
        None if exact is None else exact == 1,
        response_of(seat.agent, said[-1] if said else ""),
    )


def judge_names(seats: Sequence[SeatOutcome]) -> list[str]:
    """Returns the judges, seat by seat: the policy, with the seat if it has several."""
    names = [seat.policy for seat in seats]
    return [seat.policy if names.count(seat.policy) == 1 else f"{seat.policy} ({seat.agent})" for seat in seats]


def response_of(agent: str, action: object) -> str:
    """Returns a simulator's answer from the text of its action; an empty answer is recorded as its name."""
    text = str(action or "")
    return "" if text == f"{agent}:" else text


def _known(seat: SeatOutcome, name: str) -> float | None:
    value = seat.statistics.get(name, UNKNOWN)
    return None if value == UNKNOWN else value


def by_simulator(answers: Iterable[Answered]) -> dict[str, list[Answered]]:
    """Returns answers by simulator, in the order of their first matches."""
    found: dict[str, list[Answered]] = {}
    for each in answers:
        found.setdefault(each.simulator, []).append(each)
    return found


def within(answers: Iterable[Answered], subset: str) -> list[Answered]:
    """Returns the answers to scripts of a subset."""
    return [each for each in answers if belongs(each.label, each.script.type, subset)]


def mean_score(answers: Iterable[Answered]) -> Estimate | None:
    """Returns the mean score with an interval clustered by task; ``None`` without any score."""
    scored = [(each.score, each.script.source_id) for each in answers if each.score is not None]
    return score_estimate([score for score, _ in scored], [task for _, task in scored])


def score_estimate(scores: Sequence[float], clusters: Sequence[str]) -> Estimate | None:
    """Returns a mean of scores from 1 to 10; its interval stays within the scale and holds for few clusters.

    Args:
        scores: the scores.
        clusters: group of each score.
    """
    length = SCALE.high - SCALE.low
    mean = bounded_mean([(score - SCALE.low) / length for score in scores], clusters)
    if mean is None:
        return None
    low, high = (None if end is None else SCALE.low + length * end for end in (mean.low, mean.high))
    return mean._replace(value=SCALE.low + length * mean.value, low=low, high=high)


def subset_means(answers: Iterable[Answered], subsets: Sequence[str]) -> dict[str, list[Estimate | None]]:
    """Returns the mean scores of every simulator on some subsets."""
    return {
        simulator: [mean_score(within(own, name)) for name in subsets]
        for simulator, own in by_simulator(answers).items()
    }


def left_out(run: PlayedRun, answers: Iterable[Answered], options: ScriptOptions) -> list[str]:
    """Returns notes on the matches without a score, and on refused records of the run's files."""
    return omissions(run, options, "without a rating, or forfeited", sum(each.score is None for each in answers))


def omissions(run: PlayedRun, options: ScriptOptions, why: str, count: int) -> list[str]:
    """Returns notes on the matches without a result, and on refused records of the files of scripts and tasks.

    Args:
        run: the run.
        options: its files.
        why: reason why finished matches have no result.
        count: number of such matches.
    """
    counts = Counter(
        f"of status {outcome.status}"
        for environment in run.environments()
        for outcome in run.outcomes(environment)
        if outcome.status not in PLAYED
    )
    counts[why] = count
    left_out = [f"matches left out, {reason}: {number}" for reason, number in counts.items() if number]
    return [*left_out, *refusal_notes(read_scripts(options.scripts, options.tasks, options.language))]
