"""Quality of judges: their scores against the measured quality of a text, its length, its role, and other judges' scores."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.deepeval.judged import APART, SCORES, JudgedMatch
from benchmarks.deepeval.matrices import Names
from benchmarks.deepeval.ordering import concordance, rank_correlation
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.precision import FEW_CASES
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from rating.stats.estimates import Estimate, mean_estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROLES = ("writer", "editor")
Value = Callable[[JudgedMatch, str], float | None]
"""Takes a match and a role, and returns the measured quality of the role's text."""


class Case(NamedTuple):
    """A score by a judge.

    Attributes:
        match: number of the match.
        task: number of its task.
        score: 1 to 10.
        length: characters of the text.
        truth: measured quality of the text, or ``None``.
    """

    match: int
    task: int
    score: float
    length: float
    truth: float | None


def cases(matches: Sequence[JudgedMatch], judge: str, role: str, truth: Value, length: Value) -> list[Case]:
    """Returns a judge's scores of a role."""
    found = []
    for match in matches:
        scores = match.scores.get(judge)
        if scores is not None and not match.is_forfeited:
            score = scores.writer if role == "writer" else scores.editor
            found.append(Case(match.number, match.task, score, length(match, role) or 0.0, truth(match, role)))
    return found


def judges_of(matches: Sequence[JudgedMatch]) -> list[str]:
    """Returns the judges, in the order of their seats."""
    return list(dict.fromkeys(judge for match in matches for judge in match.scores))


def accuracy(own: Sequence[Case]) -> "Estimate | None":
    """Returns the share of pairs of texts on one task that a judge orders like the measured quality."""
    told = [(case.score, case.truth, case.task) for case in own if case.truth is not None]
    return concordance(*zip(*told, strict=True)) if told else None


def judge_tables(
    matches: Sequence[JudgedMatch], names: Names, truth: Value, length: Value, notes: Sequence[str]
) -> list[Table]:
    """Returns the tables on judge quality: accuracy, roles, and agreement; ``notes`` name the measure of quality."""
    return [
        accuracy_table(matches, names, truth, length, notes),
        role_table(matches, names),
        agreement_table(matches, names),
    ]


def accuracy_table(
    matches: Sequence[JudgedMatch], names: Names, truth: Value, length: Value, notes: Sequence[str]
) -> Table:
    """Returns how closely each judge's scores follow the measured quality of the texts, and their length."""
    rows: list[Cells] = []
    for judge, role in itertools.product(judges_of(matches), ROLES):
        own = cases(matches, judge, role, truth, length)
        told = [case for case in own if case.truth is not None]
        rows.append(
            {
                Column("judge"): judge,
                Column("scores of the"): names.of(role),
                Column("mean score", MEASURED): mean_estimate(
                    [case.score for case in own], [case.task for case in own], scale=SCORES
                ),
                Column("abstentions", MEASURED): sum(
                    judge in match.scores and match.scores[judge] is None for match in matches
                ),
                Column("pairs ordered as what is known, %", MEASURED, 1): percent(accuracy(own)),
                Column("correlation with what is known", MEASURED): _correlation(
                    told, [case.truth or 0.0 for case in told]
                ),
                Column("correlation with length", MEASURED): _correlation(own, [case.length for case in own]),
                Column("the same, what is known held equal", MEASURED): _correlation(
                    told, [case.length for case in told], [case.truth or 0.0 for case in told]
                ),
            }
        )
    return Table.of(
        "judges",
        "judges: their scores beside what is known of the texts, and beside the length of the texts",
        rows,
        [
            *notes,
            "pairs are two texts on one task, of which one is known to be better; one half counts where the judge gave both the"
            " same: 50 % is guessing; (n): pairs",
            "correlations are Spearman's, of differences from the task's mean; (n): scores",
            "intervals are clustered by task; those of correlations are left out where tasks are fewer than 6, and a correlation"
            " where one of the two never differs, or what is known says all",
        ],
    )


def role_table(matches: Sequence[JudgedMatch], names: Names) -> Table:
    """Returns each judge's preference for a role."""
    judges = judges_of(matches)
    rows: list[Cells] = []
    for judge in judges:
        gaps, tasks, more, more_tasks = [], [], [], []
        for match in matches:
            own = match.scores.get(judge)
            if own is None or match.writer.policy == match.editor.policy:
                continue
            others = [scores for name, scores in match.scores.items() if name != judge and scores is not None]
            gaps.append(own.editor - own.writer)
            tasks.append(match.task)
            if others:
                theirs = sum(scores.editor - scores.writer for scores in others) / len(others)
                more.append(own.editor - own.writer - theirs)
                more_tasks.append(match.task)
        beyond = mean_estimate(more, more_tasks, scale=(2 * APART[0], 2 * APART[1]))
        rows.append(
            {
                Column("judge"): judge,
                Column("difference", MEASURED): mean_estimate(gaps, tasks, scale=APART),
                Column("less that of the other judges", MEASURED): beyond,
            }
        )
    return Table.of(
        "roles",
        f"judges: what they give the {names.editor} more than the {names.writer} of the same match, in points",
        rows,
        [
            "every pair has both roles on every task, so that who is better than whom cancels out; what is left is that one role"
            " deserves more, or that the judge favours it, which comparing judges shows",
        ],
    )


def agreement_table(matches: Sequence[JudgedMatch], names: Names) -> Table:
    """Returns the agreement of every two judges."""
    rows: list[list[Cell]] = []
    for (first, second), role in itertools.product(itertools.combinations(judges_of(matches), 2), ROLES):
        one, other = (
            {case.match: case for case in cases(matches, judge, role, _nothing, _nothing)} for judge in (first, second)
        )
        both = [number for number in one if number in other]
        tasks = [one[number].task for number in both]
        ours, theirs = [one[number].score for number in both], [other[number].score for number in both]
        gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
        rows.append(
            [
                f"{first} and {second}",
                names.of(role),
                len(both),
                rank_correlation(ours, theirs, tasks),
                mean_estimate(gaps, tasks, scale=APART),
                mean_estimate([abs(gap) for gap in gaps], tasks, scale=(0, APART[1])),
                f"fewer than {FEW_CASES} scores" if len(both) < FEW_CASES else "",
            ]
        )
    return Table(
        "agreement",
        "agreement of the judges",
        [
            Column("pair"),
            Column("scores of the"),
            Column("scores that both gave"),
            Column("correlation", MEASURED),
            Column("points the first one gives more", MEASURED),
            Column("points apart", MEASURED),
            Column("remark"),
        ],
        rows,
        ["correlation: as above, within tasks"] if rows else ["one judge or none: there is nobody to agree with"],
    )


def accuracy_picture(matches: Sequence[JudgedMatch], names: Names, truth: Value) -> "Mapping[str, Figure]":
    """Draws how often judges order texts like the measured quality; nothing if it is unknown for all texts."""
    shares = {
        f"{judge}, scores of the {names.of(role)}": percent(accuracy(cases(matches, judge, role, truth, _nothing)))
        for judge in judges_of(matches)
        for role in ROLES
    }
    if not any(shares.values()):
        return {}
    label = "pairs of texts that the judge orders as what is known of them, %, with 95 % interval"
    return {"judges": estimates(shares, label, lines={"guessing": 50.0})}


def judge_notes(run_judges: Sequence[str], players: Sequence[str]) -> list[str]:
    """Returns notes on the judges, and on judges that also played."""
    notes = [f"judged by {', '.join(run_judges)}; a score is the mean of the judges who gave one"] if run_judges else []
    return notes + [
        f"{judge} judges matches that it plays itself: scores of its own texts are no independent ones"
        for judge in dict.fromkeys(run_judges)
        if judge in players
    ]


def _correlation(
    own: Sequence[Case], values: Sequence[float], given: Sequence[float] | None = None
) -> "Estimate | None":
    return rank_correlation([case.score for case in own], values, [case.task for case in own], given=given)


def _nothing(match: JudgedMatch, role: str) -> float | None:
    return None
