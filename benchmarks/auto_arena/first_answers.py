"""Ablation of the debate: a tournament that judges two first answers (Auto-Arena, arXiv 2405.20267v1, Table 2).

The paper's ablation without peer battles: both answer the question blindly, and these answers are judged. It is a separate
tournament with its own pairings and committees.
"""

from collections.abc import Mapping

from benchmarks.auto_arena.boards import BOTH_INTERVALS, TIES, agreement_cells, rating_table
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.auto_arena.question_stage import EXAMINED
from benchmarks.auto_arena.tournaments import (
    RUN,
    Played,
    Scores,
    TournamentOptions,
    plan_tournament,
    precision,
    read_tournament,
    scores_to_compare,
)
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table, percent
from llmarena_envs.core.options import OptionError
from rating.config.run_file import RunConfig
from rating.stats.estimates import bounded_mean
from rating.stats.results import pair_results

FIRST_ANSWERS = "first_answers"
TITLES = {RUN: "debates", FIRST_ANSWERS: "first answers only"}


def plan(options: TournamentOptions) -> dict[str, RunConfig]:
    """Returns a tournament of debates and one of first answers."""
    return {
        RUN: plan_tournament(options),
        FIRST_ANSWERS: plan_tournament(options, judge_initial_only=True),
    }


def measure(runs: Mapping[str, PlayedRun], options: TournamentOptions) -> Result:
    """Returns both tournaments' rank agreement with another ranking, and their ratings.

    Raises:
        OptionError: if the judged texts do not match the name of a run.
    """
    for name, run in runs.items():
        check_judged_on(run, first_answers=name == FIRST_ANSWERS)
    played = {name: read_tournament(run) for name, run in runs.items()}
    policies = sorted({row.policy for own in played.values() for row in own.board.rows})
    scores = scores_to_compare(options, policies)
    tables = [
        *([ablation_table(played, scores)] if scores else []),
        load_published("benchmarks.auto_arena")["T2_ablation"].table(
            "published", "correlation with the human ranking, as printed", "ratings", 1
        ),
        *(
            rating_table(
                own.board,
                own.ratings,
                scores.values if scores else {},
                f"ratings-{name.replace('_', '-')}",
                TITLES[name],
            )
            for name, own in played.items()
        ),
    ]
    notes = [f"{TITLES[name]}: {note}" for name, own in played.items() for note in own.notes]
    if not scores:
        notes.append("no ranking to compare the tournaments with; name a file with --scores")
    return Result(tables, notes=notes)


def check_judged_on(run: PlayedRun, *, first_answers: bool) -> None:
    """Checks the texts that the judges of a run read.

    Raises:
        OptionError: if they are not the expected ones.
    """
    got = run.config.options(DEBATE).get("judge_initial_only", False)
    if got != first_answers:
        raise OptionError(
            f"{run.directory}: {DEBATE}: expected a run with judge_initial_only = {first_answers}, got {got}"
        )


def ablation_table(played: Mapping[str, Played], scores: Scores) -> Table:
    """Returns each tournament's rank agreement with ``scores``."""
    rows: list[list[Cell]] = []
    for name, own in played.items():
        results = pair_results(own.outcomes)
        tied = bounded_mean([duel.score == 0.5 for duel in results], [duel.number for duel in results])
        rows += [
            [
                TITLES[name],
                *agreement_cells(TIES[ties], ratings.correlation(scores.values), ratings.spearman(scores.values)),
                percent(tied),
            ]
            for ties, ratings in own.ratings.items()
        ]
    return Table(
        "measured",
        f"correlation with {scores.title}",
        [
            Column("what is judged"),
            Column("ratings"),
            Column("Spearman, %, over battles", MEASURED),
            Column("Spearman, %, over players", MEASURED),
            Column("Pearson", MEASURED, 4),
            Column("pairs in the same order", MEASURED),
            Column("concordance, %", MEASURED),
            Column("battles that were tied, %", MEASURED, 1),
        ],
        rows,
        [
            BOTH_INTERVALS,
            "scripted debaters spread what they have to say over three answers, so a first answer tells less of them; how much"
            " less depends on how much their judges err, which was chosen: if it is as in the paper, that shows nothing",
        ],
    )


ROW = Row(
    title="what the debate is worth: correlation with a ranking if the committee sees two first answers only",
    source="Auto-Arena, section 4.3, Table 2",
    options=TournamentOptions,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    shows="It shows how much of the order a committee finds from blind first answers, and how much from whole debates.",
    does_not_show=(
        "It does not show that a difference is no chance, unless the intervals over battles are far apart: both are single"
        " tournaments with other pairings and committees."
    ),
    any_manner=True,
)
