"""Agreement of two judges on a battle, before and after their discussion (Auto-Arena, arXiv 2405.20267v1, Table 3).

The paper does not define its mean. Both candidates are computed: the mean over pairs of judges with equal weights, and the share
of all pairs of verdicts, which weights a pair of judges by its number of battles.
"""

from collections.abc import Mapping

from benchmarks.auto_arena.judges import read_stages
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.auto_arena.question_stage import EXAMINED, question_notes
from benchmarks.auto_arena.tournaments import RUN, TournamentOptions, plan_tournament, precision
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import unfinished
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table, percent
from rating.config.run_file import RunConfig
from rating.judges import JudgeStudy, StageAgreement

PEOPLE = "people, MT-Bench"


def plan(options: TournamentOptions) -> dict[str, RunConfig]:
    """Returns the tournament."""
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: TournamentOptions) -> Result:
    """Returns both agreement probabilities, and how often judges change their verdicts."""
    run = runs[RUN]
    found, stages = read_stages(run)
    bars = {
        f"{name}, {stage}": percent(value)
        for stage, own in stages.items()
        for name, value in (("mean over pairs", own.means and own.means.agreement), ("pooled", own.pooled))
    }
    figure = estimates(
        bars,
        "judges that say the same, %, with 95 % interval over battles",
        lines={"people (published)": _printed(PEOPLE)},
    )
    return Result(
        [agreement_table(stages), change_table(found)],
        {"agreement": figure},
        [*question_notes(run), *unfinished(run.outcomes(DEBATE))],
    )


def _printed(line: str) -> float:
    value = load_published("benchmarks.auto_arena")["T3_agreement"].rows[line][0]
    assert value is not None
    return value


def agreement_table(stages: Mapping[str, StageAgreement]) -> Table:
    """Returns the agreement probabilities, beside the printed figures."""
    published = load_published("benchmarks.auto_arena")["T3_agreement"]
    rows: list[list[Cell]] = []
    for line, printed in published.rows.items():
        own = stages.get(line)
        rows.append(
            [
                line,
                *printed,
                percent(own.means.agreement) if own and own.means else None,
                percent(own.pooled) if own else None,
            ]
        )
    return Table(
        "agreement",
        "judges that say the same of a battle, %",
        [
            Column("verdicts"),
            Column("agreement, %", PUBLISHED, 0),
            Column("mean over pairs of judges, %", MEASURED, 1),
            Column("pooled over pairs of verdicts, %", MEASURED, 1),
        ],
        rows,
        [
            "(n): battles with verdicts of two judges or more; intervals are over battles",
            "the paper does not say which of the two ways it takes",
            f"published: {published.source}",
            *published.notes,
        ],
    )


def change_table(found: JudgeStudy) -> Table:
    """Returns how often each judge changed its verdict, and the new verdicts."""
    rows: list[list[Cell]] = [["all", percent(found.changed), None, None]]
    for row in found.judges:
        if row.changes:
            changes = row.changes
            rows.append([row.judge, *map(percent, (changes.changed, changes.towards, changes.away))])
    return Table(
        "changes",
        "verdicts that judges changed in the discussion",
        [
            Column("judge"),
            Column("changed, %", MEASURED, 1),
            Column("of these to what most others had said, %", MEASURED, 1),
            Column("of these away from it, %", MEASURED, 1),
        ],
        rows,
        ["where several verdicts lead among the others, the majority is a tie", "the paper prints none"],
    )


ROW = Row(
    title="how often two judges say the same, before and after their discussion",
    source="Auto-Arena, section 4.4, Table 3",
    options=TournamentOptions,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    shows="It shows how often two members of a committee give the same verdict, and how often reading the others changes one.",
    does_not_show=(
        "It does not show how much of that is chance: row f3 has kappa. How far the scripted judges follow the others was"
        " chosen."
    ),
    any_manner=True,
)
