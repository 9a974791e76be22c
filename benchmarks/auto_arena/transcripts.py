"""Battles to read, and the effect of the debate (Auto-Arena, arXiv 2405.20267v1, section 5, Figures 8 to 10).

The paper shows debaters that compete, one that learns from the other, and a gap between two that is wider after the debate than
on their first answers. Here such battles are selected by rule from a tournament, and the last claim is tested: the committee of
every battle also judges its two first answers, which shows how often the debate changes the verdict. The first answers are
judged twice, since an inconsistent committee changes its verdict without any debate.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.auto_arena.cases import SEQUENCE, Case, competitiveness, find, learning, widening
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.auto_arena.question_stage import EXAMINED, question_notes
from benchmarks.auto_arena.rejudging import Battle, Verdict, plan_rejudging, read_battles, rejudged
from benchmarks.auto_arena.stories import LABELS, story_files
from benchmarks.auto_arena.tournaments import RUN, TournamentOptions, plan_tournament, precision, scores_to_compare
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import unfinished
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from llmarena_envs.core.options import check_int
from rating.config.run_file import RunConfig
from rating.errors import RunError
from rating.stats.estimates import bounded_mean, mean_estimate
from rating.viewer.report.write import report_page

TIE = 2.0
JUDGED = 3
"""Comparable verdicts: on A, on B, a tie."""


@dataclass(frozen=True, kw_only=True)
class Options(TournamentOptions):
    """Options of the row.

    Raises:
        OptionError: if an option has no valid value.
    """

    per_pairing: int = option(8, "battles of a pairing, each on a question of its own", smoke=2)
    repeat: int = option(
        2, "times that first answers are judged; with 2 it is known how often judges contradict themselves"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("repeat", self.repeat, 1, 100)


class Change(NamedTuple):
    """Two verdicts of one committee on one battle."""

    match: int
    before: Verdict
    after: Verdict


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the tournament."""
    return {RUN: plan_tournament(options)}


def follow_up(runs: Mapping[str, PlayedRun], options: Options) -> dict[str, RunConfig]:
    """Returns the runs that judge the first answers, one for each committee."""
    return plan_rejudging(runs[RUN], read_battles(runs[RUN]), options.repeat, options.seed, options.workers)


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns how often the debate changes the verdict, and the selected battles.

    Raises:
        RunError: if no debate has a verdict.
    """
    run = runs[RUN]
    battles = list(read_battles(run))
    if not battles:
        raise RunError(f"{run.directory}: expected debates with a verdict, but there is none")
    first = rejudged({name: played for name, played in runs.items() if name != RUN})
    debated = [
        Change(battle.match.number, before, battle.verdict)
        for battle in battles
        for before in first[battle.match.number]
    ]
    again = [Change(match, *verdicts[:2]) for match, verdicts in sorted(first.items()) if len(verdicts) > 1]
    cases = {
        "competitive": find(battles, competitiveness),
        "learning": find(battles, learning),
    }
    if debated:
        cases["widening-gap"] = find(battles, lambda battle: widening(battle, first[battle.match.number]))
    tables = [case_table(cases)]
    notes = [f"no battle is {kind.replace('-', ' ')} by the rule" for kind, case in cases.items() if case is None]
    if debated:
        tables = [
            change_table(debated, again),
            transition_table(debated),
            lead_table(battles, debated, options),
            *tables,
        ]
    else:
        notes.append("first answers were not judged apart, so it is not known what the debate changes")
    chosen = {case.battle.match.id for case in cases.values() if case}
    records = {record.match.id: record for record in run.records(DEBATE) if record.match.id in chosen}
    files, untold = story_files({kind: records[case.battle.match.id] for kind, case in cases.items() if case})
    page = report_page(run.directory, "Battles of Auto-Arena", records)
    for name, played in runs.items():
        for environment in played.environments():
            notes += [f"{name}: {note}" for note in unfinished(played.outcomes(environment))]
    return Result(tables, notes=[*question_notes(run), *notes, *untold], files={**files, "page.html": page})


def change_table(debated: Sequence[Change], again: Sequence[Change]) -> Table:
    """Returns the frequency of different verdicts."""
    rows: list[Cells] = []
    for name, changes in (("first answers, then the whole debate", debated), ("first answers, judged twice", again)):
        matches = [change.match for change in changes]
        judges = [
            (change.match, old != new)
            for change in changes
            for old, new in zip(change.before.given, change.after.given, strict=True)
            if min(old, new) >= 0
        ]

        def rate(holds: Callable[[float, float], bool], changes: Sequence[Change] = changes) -> Cell:
            hits = [holds(change.before.winner, change.after.winner) for change in changes]
            return percent(bounded_mean(hits, [change.match for change in changes]))

        rows.append(
            {
                Column("what is judged"): name,
                Column("battles", MEASURED): len(set(matches)),
                Column("committee's verdict differs, %", MEASURED, 1): rate(lambda old, new: old != new),
                Column("the other side wins, %", MEASURED, 1): rate(
                    lambda old, new: old != new and TIE not in (old, new)
                ),
                Column("a tie is decided, %", MEASURED, 1): rate(lambda old, new: old == TIE != new),
                Column("a decision becomes a tie, %", MEASURED, 1): rate(lambda old, new: old != TIE == new),
                Column("judges' verdicts that differ, %", MEASURED, 1): percent(
                    bounded_mean([differs for _, differs in judges], [match for match, _ in judges])
                ),
            }
        )
    return Table.of(
        "changes",
        "how often the verdict is another one",
        rows,
        [
            "the same committee judges the same two first answers; each time they were judged is compared with the debate, and"
            " intervals are by battle",
            "judged twice: how often a committee comes to another verdict without any debate; changes that are no more frequent"
            " than that need no debate to explain them",
        ],
    )


def transition_table(debated: Sequence[Change]) -> Table:
    """Returns the transitions from verdicts on first answers to verdicts on the debate."""
    counts = Counter((change.before.winner, change.after.winner) for change in debated)
    labels = {number: label for number, label in LABELS.items() if number < JUDGED}
    return Table(
        "transitions",
        "verdicts on first answers, and on the whole debate",
        [Column("on first answers"), *(Column(f"{label} after the debate", MEASURED) for label in labels.values())],
        [[label, *(counts[before, after] for after in labels)] for before, label in labels.items()],
        ["a battle counts as often as its first answers were judged"],
    )


def lead_table(battles: Sequence[Battle], debated: Sequence[Change], options: Options) -> Table:
    """Returns the gap in votes between the sides, on first answers and after the debate."""
    scores = scores_to_compare(options, sorted({side for battle in battles for side in battle.sides}))
    signs = {battle.match.number: _better(battle, scores.values) for battle in battles} if scores else {}
    kinds: dict[str, list[tuple[int, float, float]]] = {
        "of whoever is ahead": [(each.match, abs(each.before.lead), abs(each.after.lead)) for each in debated]
    }
    if scores:
        kinds[f"of the better side, by {scores.title}"] = [
            (each.match, sign * each.before.lead, sign * each.after.lead)
            for each in debated
            if (sign := signs[each.match])
        ]
    rows: list[list[Cell]] = []
    for name, leads in kinds.items():
        matches = [match for match, _, _ in leads]
        columns = ([old for _, old, _ in leads], [new for _, _, new in leads], [new - old for _, old, new in leads])
        scales = ((-1, 1), (-1, 1), (-2, 2))
        rows.append(
            [
                name,
                *(mean_estimate(values, matches, scale=scale) for values, scale in zip(columns, scales, strict=True)),
            ]
        )
    return Table(
        "leads",
        "whether the gap widens: the lead in votes, as a share of the committee",
        [
            Column("lead"),
            Column("on first answers", MEASURED),
            Column("after the debate", MEASURED),
            Column("change", MEASURED),
        ],
        rows,
        ["a lead of 1: all judges are for one side; intervals are by battle"],
    )


def _better(battle: Battle, scores: Mapping[str, float]) -> int:
    """Returns 1 if A is the better side, -1 if B is, 0 if unknown."""
    first, second = (scores.get(side) for side in battle.sides)
    return 0 if first is None or second is None else (first > second) - (first < second)


RULES = {
    "competitive": (
        "Figure 8",
        "largest share of words, thoughts aside, that go into criticism and requests; of the side that attacks less",
    ),
    "learning": (
        "Figure 9",
        f"most sequences of {SEQUENCE} words that an answer takes over from what the opponent had said",
    ),
    "widening-gap": (
        "Figure 10",
        "largest growth of the winner's lead in votes from first answers to the whole debate",
    ),
}


def case_table(cases: Mapping[str, Case | None]) -> Table:
    """Returns the selected battle of each rule."""
    rows: list[list[Cell]] = []
    for kind, case in cases.items():
        if case is not None:
            battle = case.battle
            figure, rule = RULES[kind]
            winner = LABELS.get(battle.verdict.winner, "none")
            rows.append(
                [
                    figure,
                    kind.replace("-", " "),
                    rule,
                    case.value,
                    battle.match.id,
                    *battle.sides,
                    battle.game.question.domain,
                    winner,
                ]
            )
    return Table(
        "cases",
        "battles that were written out",
        [
            Column("in the paper"),
            Column("case"),
            Column("rule"),
            Column("its value", MEASURED),
            Column("match"),
            Column("A"),
            Column("B"),
            Column("domain"),
            Column("winner", MEASURED),
        ],
        rows,
        [
            "the battle of the run with the greatest value, the first one of several; the paper's cases were chosen by hand",
            "scripted debaters all speak in the same sentences, which the rule of Figure 9 takes for learning",
        ],
    )


ROW = Row(
    title="battles to read, and how often the debate changes the verdict on first answers",
    source="Auto-Arena, section 5, Figures 8 to 10",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    follow_up=follow_up,
    shows=(
        "It shows a battle of each kind that the paper describes, found by a rule, and how often a committee comes to another"
        " verdict on a whole debate than on the first answers of that debate, beside how often it contradicts itself."
    ),
    does_not_show=(
        "It does not show that the later verdict is the better one, unless the better side is known from elsewhere; and a battle"
        " that was chosen for a number is no sample."
    ),
    any_manner=True,
)
