"""Judges against the truth: validity of ratings on tasks with an engine.

SimulBench (arXiv 2409.07641) relies on the ratings of one judge and validates them by people's opinion on a sample only.
For a task with an engine, every answer is known to be exact or not: each judge's ratings can be compared with the truth,
and the mean over all tasks can be corrected for the judge's errors.

Dialogues end after 1, 2, 4 or 8 turns, to show the effect of their length on judges. A scripted user plays 8 turns on engines
only. All simulators play the same tasks with the same numbers of turns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from benchmarks.simulbench.against_truth import drift, mean_error, praise, rank_agreement, separation
from benchmarks.simulbench.pool import (
    SCRIPTED,
    SIMULATION,
    USER_TEMPERATURE,
    USER_TOKENS,
    as_role,
    is_playable,
    playable,
    simulators,
    with_staff,
)
from llmarena_envs import simulation_v0
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import OptionError, check_int, check_number
from llmarena_envs.simulation.protocol import DIALOGUE, PAIRWISE, SCALE
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, mean_estimate
from rating.stats.prediction_powered import corrected_mean
from rating.store.records import PLAYED, Outcome

RUN = "dialogues"
TURNS = (1, 2, 4, 8)

USER = "user:praise=0.2"
JUDGES = ("exact", "praised:praise=6", "lenient:lenience=4", "noisy:noise=4", "exact:drift=1", "always")

EXACT, FLAWED, WRONG = 1.0, 0.5, 0.0
"""The truth of an answer; the right content within other text counts in between, as in the judges' scale of five bands."""

_POINTS = SCALE.high - SCALE.low


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    tasks: str = option("", "file of tasks instead of those that come with the package")
    number: int = option(
        0, "how many tasks at most, of those with an engine and of others by turns; 0 for all", smoke=8
    )
    repeat: int = option(1, "dialogues of each simulator on each task with each number of turns")
    user: str = option(USER, "policy that makes the requests, e.g. openai:MODEL")
    judge: tuple[str, ...] = option((), f"policies that judge, e.g. openai:MODEL (default: {' '.join(JUDGES)})")
    threshold: float = option(7.0, "rating from which an answer is praised; 7 is `good` on the judges' scale")
    known: float = option(
        0.25, "share of the dialogues on engines of which the truth is taken to be known, to try the correction"
    )


class Rated(NamedTuple):
    """The last answer of a dialogue with its ratings.

    Attributes:
        simulator: the policy that answered.
        deal: the seed of its match; shared by dialogues of other simulators on the same task.
        turn: number of its turn.
        truth: ``EXACT``, ``FLAWED`` or ``WRONG``; ``None`` without an engine.
        ratings: by judge; without judges that abstained.
    """

    simulator: str
    deal: int
    turn: float
    truth: float | None
    ratings: Mapping[str, float]

    @property
    def exact(self) -> float | None:
        """Whether it is exactly right, 1 or 0; ``None`` without an engine."""
        return None if self.truth is None else float(self.truth == EXACT)


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run of all simulators on the same tasks, with dialogues of different lengths.

    Raises:
        OptionError: if an option has no valid value.
    """
    check_int("number", options.number, 0, 1_000_000)
    check_int("repeat", options.repeat, 1, 1_000)
    check_number("threshold", options.threshold, SCALE.low, SCALE.high)
    check_number("known", options.known, 0, 1)
    judges = options.judge or JUDGES
    own = {"tasks": str(Path(options.tasks).resolve())} if options.tasks else {}
    settings: dict[str, Any] = {**own, "mode": DIALOGUE, "n_judges": len(judges), "language": options.language}
    env = simulation_v0.raw_env(**settings)
    players = [*simulators(options, SCRIPTED), *judges]
    known = set(playable(env.game.tasks, TURNS[0], options.user, players))
    numbers = [number for number in env.cases()["number"] if env.game.tasks[number] in known]
    deals = [
        (number, turns)
        for number in numbers[: options.number or len(numbers)]
        for turns in TURNS
        if is_playable(env.game.tasks[number], turns, options.user, players)
    ]
    user = as_role(options.user, "user", temperature=USER_TEMPERATURE, max_tokens=USER_TOKENS)
    item = EnvironmentConfig(
        name=SIMULATION,
        scheme="mean_reward",
        options=settings,
        by_deal={"number": [number for number, _ in deals], "turns": [turns for _, turns in deals]},
        staff={"user": [user.title], "judge": list(judges)},
    )
    config = plan_run(options, [item], stop={"matches": options.repeat * len(deals)}, scripted=SCRIPTED)
    return {RUN: with_staff(config, user)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the validity of each judge's ratings, and the corrected means.

    Raises:
        RunError: if no answer was rated.
        OptionError: if the run has comparisons.
    """
    run = runs[RUN]
    if run.config.options(SIMULATION).get("mode") == PAIRWISE:
        raise OptionError(f"{run.directory}: expected a run with ratings, got one with mode = 'pairwise'")
    outcomes = run.outcomes(SIMULATION)
    answers = rated_answers(outcomes)
    judges = list(dict.fromkeys(judge for answer in answers for judge in answer.ratings))
    if not judges:
        raise RunError(f"{run.directory}: expected rated answers of {SIMULATION}, but there is none yet")
    known = [answer for answer in answers if answer.truth is not None]
    tables = [
        judge_table(known, judges, options.threshold),
        length_table(known, judges),
        simulator_table(answers),
        correction_table(known, judges, options.known, options.seed),
    ]
    false = {judge: percent(praise_of(known, judge, options.threshold)[0]) for judge in judges}
    drifts = {judge: drift_of(known, judge) for judge in judges}
    figures = {
        "false-praise": estimates(false, f"wrong answers rated {options.threshold:g} or more, %, with 95 % interval"),
        "drift": estimates(
            drifts, "change of the rating by a turn, points, with 95 % interval", lines={"no drift": 0.0}
        ),
    }
    unplayed = sum(outcome.status not in PLAYED for outcome in outcomes)
    notes = [
        f"{len(answers)} answers, of which {len(known)} stand on an engine; left out: {unplayed} void matches and"
        f" {len(outcomes) - unplayed - len(answers)} without an answer"
    ]
    if not known:
        notes.append("no engine stands behind any of the tasks that were played, so nothing can be told of the judges")
    return Result(tables, figures, notes)


def rated_answers(outcomes: Iterable[Outcome]) -> list[Rated]:
    """Returns the last answers of the finished matches, in match-number order."""
    found = []
    for outcome in sorted(outcomes, key=lambda outcome: outcome.number):
        simulators = [seat for seat in outcome.seats if seat.rated]
        if outcome.status not in PLAYED or any(seat.forfeit for seat in outcome.seats) or len(simulators) != 1:
            continue
        (simulator,) = simulators
        told = simulator.statistics
        exact, flawed = told.get("exact", -1.0), told.get("format_flawed", -1.0)
        truth = None if exact < 0 else EXACT if exact else FLAWED if flawed > 0 else WRONG
        ratings = {}
        for seat in outcome.seats:
            if role_of(seat.agent) == "judge" and seat.statistics.get("rating", -1.0) >= SCALE.low:
                name = seat.policy if seat.policy not in ratings else f"{seat.policy} ({seat.agent})"
                ratings[name] = seat.statistics["rating"]
        found.append(Rated(simulator.policy, outcome.seed, told.get("turns", 0.0), truth, ratings))
    return found


class Scores(NamedTuple):
    """One judge's ratings of answers with known truth, one entry per answer."""

    ratings: list[float]
    truth: list[float]
    turns: list[float]
    deals: list[int]


def scores_of(known: Sequence[Rated], judge: str) -> Scores:
    """Returns a judge's ratings."""
    own = [answer for answer in known if judge in answer.ratings]
    return Scores(
        [answer.ratings[judge] for answer in own],
        [answer.truth or 0.0 for answer in own],
        [answer.turn for answer in own],
        [answer.deal for answer in own],
    )


def praise_of(known: Sequence[Rated], judge: str, threshold: float) -> tuple[Estimate | None, Estimate | None]:
    """Returns the shares of wrong answers that a judge praises, and of exact ones that it does not."""
    plain = [answer for answer in known if answer.truth != FLAWED]
    scores = scores_of(plain, judge)
    found = praise(scores.ratings, scores.truth, threshold, scores.deals)
    return found.false, found.missed


def drift_of(known: Sequence[Rated], judge: str) -> Estimate | None:
    """Returns the change of a judge's ratings per turn, in points, at constant truth."""
    scores = scores_of(known, judge)
    return drift(scores.ratings, scores.truth, scores.turns, scores.deals)


def error_of(scores: Scores) -> Estimate | None:
    """Returns the mean excess of ratings over the truth, in points."""
    scaled = [(rating - SCALE.low) / _POINTS for rating in scores.ratings]
    error = mean_error(scaled, scores.truth, scores.deals)
    if error is None:
        return None
    low, high = (None if end is None else _POINTS * end for end in (error.low, error.high))
    return error._replace(value=_POINTS * error.value, low=low, high=high)


def judge_table(known: Sequence[Rated], judges: Sequence[str], threshold: float) -> Table:
    """Returns the validity of each judge's ratings."""
    rows: list[Cells] = []
    for judge in judges:
        scores = scores_of(known, judge)
        false, missed = praise_of(known, judge, threshold)
        rows.append(
            {
                Column("judge"): judge,
                Column("abstentions"): len(known) - len(scores.ratings),
                Column("rank correlation with the truth", MEASURED): rank_agreement(
                    scores.ratings, scores.truth, scores.deals
                ),
                Column("exact above others (AUC)", MEASURED): separation(scores.ratings, scores.truth, scores.deals),
                Column("false praise, %", MEASURED, 1): percent(false),
                Column("missed praise, %", MEASURED, 1): percent(missed),
                Column("points too many", MEASURED): error_of(scores),
                Column("drift, points a turn", MEASURED): drift_of(known, judge),
            }
        )
    return Table.of(
        "judges",
        "judges: their ratings against what the engine answers",
        rows,
        [
            "the truth is 1 for an exact answer, 0.5 for the right content within other text, 0 for a wrong one; in points 10,"
            " 5.5 and 1",
            f"false praise: wrong answers rated {threshold:g} or more; missed praise: exact answers rated less; neither counts"
            " those with flaws of format only",
            "AUC: how often an exact answer is rated above one that is not; 0.5 is guessing",
            "drift: change of the rating with every turn of the dialogue, the truth held equal",
            "intervals are clustered by deal: the simulators' dialogues on the same task with the same turns; (n): ratings",
        ],
    )


def length_table(known: Sequence[Rated], judges: Sequence[str]) -> Table:
    """Returns the mean excess of each judge's ratings, by the length of the dialogue."""
    lengths = sorted({answer.turn for answer in known})
    return Table.of(
        "lengths",
        "judges: points too many, by the turns of the dialogue",
        [
            {
                Column("judge"): judge,
                **{
                    Column(f"{turn:g} {'turn' if turn == 1 else 'turns'}", MEASURED): error_of(
                        scores_of([one for one in known if one.turn == turn], judge)
                    )
                    for turn in lengths
                },
            }
            for judge in judges
        ],
        ["as in the table of judges"],
    )


def simulator_table(answers: Sequence[Rated]) -> Table:
    """Returns the share of exact answers of each simulator: on engines, and over all tasks with the judges' scores."""
    rows: list[tuple[Estimate, list[Cell]]] = []
    for simulator in sorted({answer.simulator for answer in answers if answer.ratings}):
        own = [answer for answer in answers if answer.simulator == simulator and answer.ratings]
        deals = [answer.deal for answer in own]
        means = [fmean(answer.ratings.values()) for answer in own]
        mean = mean_estimate(means, deals, scale=(SCALE.low, SCALE.high))
        corrected = corrected_mean(means, [answer.exact for answer in own], deals)
        known, everywhere = (percent(corrected.known), percent(corrected.corrected)) if corrected else (None, None)
        assert mean is not None
        rows.append((mean, [simulator, mean, known, everywhere]))
    rows.sort(key=lambda row: -row[0].value)
    return Table(
        "simulators",
        "simulators: their ratings, and how often they are exact",
        [
            Column("simulator"),
            Column("mean rating, 1 to 10", MEASURED),
            Column("exact on engines, %", MEASURED, 1),
            Column("exact on all tasks, corrected, %", MEASURED, 1),
        ],
        [cells for _, cells in rows],
        [
            "ratings: mean of the judges on all tasks",
            "corrected: by prediction-powered inference with power tuning (Angelopoulos and others, 2023): the ratings say how"
            " the other tasks differ from those on engines, and the truth of these says how far ratings are to be believed; it"
            " holds as far as judges rate answers of the same worth alike on both kinds of tasks",
        ],
    )


def correction_table(known: Sequence[Rated], judges: Sequence[str], share: float, seed: int) -> Table:
    """Returns a test of the correction: estimates from some of the dialogues on engines, beside the truth of all of them."""
    deals = sorted({answer.deal for answer in known})
    drawn = np.random.default_rng(seed).permutation(len(deals))[: round(share * len(deals))]
    labelled = {deals[index] for index in drawn}
    rows: list[Cells] = []
    for judge in judges:
        own = [answer for answer in known if judge in answer.ratings]
        clusters = [answer.deal for answer in own]
        truth = [answer.exact if answer.deal in labelled else None for answer in own]
        corrected = corrected_mean([answer.ratings[judge] for answer in own], truth, clusters)
        everything = corrected_mean([0.0] * len(own), [answer.exact for answer in own], clusters)
        rows.append(
            {
                Column("judge"): judge,
                Column("exact, %, all known", MEASURED, 1): percent(everything.known) if everything else None,
                Column(f"exact, %, {100 * share:g} % known", MEASURED, 1): percent(corrected.known)
                if corrected
                else None,
                Column("the same, corrected by all ratings", MEASURED, 1): percent(corrected.corrected)
                if corrected
                else None,
                Column("weight of the ratings", MEASURED): corrected.weight * _POINTS if corrected else None,
            }
        )
    return Table.of(
        "correction",
        "the correction tried on what is known: exact answers of all simulators",
        rows,
        [
            f"the truth is taken to be known of {len(labelled)} of {len(deals)} deals, drawn by lot; the better the judge, the"
            " more the others help",
            "weight: of the difference between the lowest and the highest rating; 0 where the ratings are of no use",
        ],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    config = plan(options)[RUN]
    item = config.find_environment(SIMULATION)
    tasks = simulation_v0.raw_env(**item.options).game.tasks
    deals = [number for number in item.by_deal["number"] if tasks[number].engine]
    dialogues = options.repeat * len(deals)
    if not dialogues:
        return "n = 0 dialogues on engines: nothing can be told of the judges"
    return (
        f"n = {dialogues} dialogues on engines for each of {len(config.pool(SIMULATION))} simulators:"
        f" of one simulator, {rate_precision(dialogues)}"
    )


ROW = Row(
    title="judges against the truth: ratings beside what engines answer, and means corrected by them",
    source="not in SimulBench, which has no truth to hold its judge against",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows how often a judge praises wrong answers and does not praise right ones, whether it changes with the length of"
        " the dialogue, and how often simulators are exactly right when the judges' errors are taken into account."
    ),
    does_not_show=(
        "It does not show what judges are worth on tasks without an engine, which may be of another kind; and an answer that is"
        " neither exact nor flawed in format only counts as wrong however near it is."
    ),
    any_manner=True,
)
