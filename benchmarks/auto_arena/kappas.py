"""Agreement of judges before and after their discussion: Cohen's kappa of every two, and of each with the majority.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.4, Figures 3 and 4).
"""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarks.auto_arena.judges import AFTER, BEFORE, majority_cells, mean_kappa, read_stages
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.auto_arena.question_stage import EXAMINED, question_notes
from benchmarks.auto_arena.tournaments import RUN, TournamentOptions, plan_tournament, precision
from benchmarks.experiments.pictures import axes, plain
from benchmarks.experiments.precision import kappa_remark
from benchmarks.experiments.published import Published, load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import unfinished
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table, beside, paired_columns
from rating.config.run_file import RunConfig
from rating.judges import JudgeStudy, StageAgreement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MATRICES = {BEFORE: "kappa_before", AFTER: "kappa_after"}
SMALL_SAMPLE = ("GPT-3.5", "Llama-2")
"""The pair with a printed kappa of 1 after discussion."""

MOST_DRAWN = 20
"""Maximum number of judges in a heat map."""


def plan(options: TournamentOptions) -> dict[str, RunConfig]:
    """Returns the tournament."""
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: TournamentOptions) -> Result:
    """Returns kappa of every two judges, of each with the majority, and the means, before and after the discussion."""
    run = runs[RUN]
    found, stages = read_stages(run)
    published = load_published("benchmarks.auto_arena")
    tables = [
        mean_table(stages, published, found.min_pairs),
        majority_table(found, stages, published["kappa_majority"], options.published_as()),
        pair_table(stages, found.min_pairs),
        printed_table(published),
    ]
    names = [row.judge for row in found.judges if any(row.judge in stage.majority for stage in stages.values())]
    figures = {"published": draw_printed(published)}
    if 2 <= len(names) <= MOST_DRAWN:
        figures["measured"] = draw_measured(names, stages)
    return Result(tables, figures, [*question_notes(run), *unfinished(run.outcomes(DEBATE))])


def printed_pairs(table: Published) -> dict[tuple[str, str], float]:
    """Returns the printed kappa of every two models."""
    places = {model: place for place, model in enumerate(table.columns)}
    return {
        (first, second): value
        for first, second in itertools.combinations(table.columns, 2)
        if (value := table.rows[first][places[second]]) is not None
    }


def mean_table(stages: Mapping[str, StageAgreement], published: Mapping[str, Published], enough: int) -> Table:
    """Returns the means of kappa over pairs: from the text, from the printed matrices, and measured."""
    matrices = {stage: printed_pairs(published[key]) for stage, key in MATRICES.items()}
    printed = published["kappa_mean"]
    rows: list[list[Cell]] = [
        ["as the text has it", *printed.rows["all pairs"], *(None,) * 2],
        [
            "all pairs",
            *(statistics.fmean(own.values()) for own in matrices.values()),
            *(mean_kappa(stage.means) for stage in stages.values()),
        ],
        [
            f"without {' and '.join(SMALL_SAMPLE)}",
            *(
                statistics.fmean(value for pair, value in own.items() if pair != SMALL_SAMPLE)
                for own in matrices.values()
            ),
            *(None,) * 2,
        ],
        [
            f"pairs with {enough} battles in common or more",
            *(None,) * 2,
            *(mean_kappa(stage.means_of_many) for stage in stages.values()),
        ],
    ]
    return Table(
        "means",
        "mean of Cohen's kappa over pairs of judges",
        [Column("pairs"), *(Column(stage, source, 3) for source in (PUBLISHED, MEASURED) for stage in stages)],
        rows,
        [
            "measured: (n) is the number of pairs whose kappa is defined; intervals are over battles",
            f"published: {printed.source}; the other lines are means of the printed matrices",
            *printed.notes,
            *dict.fromkeys(note for key in MATRICES.values() for note in published[key].notes),
        ],
    )


def majority_table(
    found: JudgeStudy, stages: Mapping[str, StageAgreement], published: Published, same: Mapping[str, str]
) -> Table:
    """Returns kappa of each judge with the majority, beside the printed ones, and with the majority of the others."""
    judges = [row.judge for row in found.judges]
    measured = {judge: majority_cells(stages, judge) for judge in judges}
    rows = beside(published.rows, {judge: own[:2] for judge, own in measured.items()}, same)
    known = {model: same[model] for model in published.rows if model in same}
    for row in rows:
        model = str(row[0]).partition(" = ")[0]
        row += measured.get(known.get(model, str(row[0])), [None] * 4)[2:]
    return Table(
        "majority",
        "Cohen's kappa of each judge with the majority",
        [*paired_columns(list(stages)), *(Column(f"with that of the others, {stage}", MEASURED) for stage in stages)],
        rows,
        [
            "the majority is what most of the committee say, the judge itself among them, or the others only; where several"
            " verdicts lead it is a tie",
            "the paper does not say whether a judge counts in the majority it is compared with",
            f"published: {published.source}",
            *published.notes,
        ],
    )


def pair_table(stages: Mapping[str, StageAgreement], enough: int) -> Table:
    """Returns the measured kappas of every two judges."""
    by_stage = [{pair.raters: pair.plain for pair in stage.pairs or ()} for stage in stages.values()]
    rows: list[list[Cell]] = []
    for raters in sorted({raters for pairs in by_stage for raters in pairs}):
        found = [pairs.get(raters) for pairs in by_stage]
        rows.append(
            [
                " and ".join(raters),
                *(own and own.kappa for own in found),
                kappa_remark([own for own in found if own], "battles", enough),
            ]
        )
    return Table(
        "pairs",
        "Cohen's kappa of every two judges",
        [Column("judges"), *(Column(stage, MEASURED) for stage in stages), Column("remark")],
        rows,
        ["(n): battles that both judged"],
    )


def printed_table(published: Mapping[str, Published]) -> Table:
    """Returns the printed kappa of every two models."""
    matrices = [printed_pairs(published[key]) for key in MATRICES.values()]
    return Table(
        "printed-pairs",
        "Cohen's kappa of every two judges, as printed",
        [Column("judges"), *(Column(stage, PUBLISHED, 4) for stage in MATRICES)],
        [[" and ".join(pair), *(own.get(pair) for own in matrices)] for pair in matrices[0]],
        [f"published: {published[key].source}" for key in MATRICES.values()]
        + ["the number of battles of a pair is not printed"],
    )


def draw_printed(published: Mapping[str, Published]) -> "Figure":
    """Draws the printed matrices."""
    names = list(published[MATRICES[BEFORE]].columns)
    cells = {stage: printed_pairs(published[key]) for stage, key in MATRICES.items()}
    return _heat_maps(
        names, {stage: {pair: (value, _text(value)) for pair, value in own.items()} for stage, own in cells.items()}
    )


def draw_measured(names: Sequence[str], stages: Mapping[str, StageAgreement]) -> "Figure":
    """Draws the measured kappas, with the numbers of battles."""
    cells = {
        stage: {
            pair.raters: (None, f"–\n({pair.plain.n})")
            if pair.plain.kappa is None
            else (pair.plain.kappa.value, f"{_text(pair.plain.kappa.value)}\n({pair.plain.n})")
            for pair in own.pairs or ()
        }
        for stage, own in stages.items()
    }
    return _heat_maps(names, cells)


def _text(kappa: float) -> str:
    return f"{round(kappa, 2) + 0.0:.2f}"


def _heat_maps(
    names: Sequence[str], tables: Mapping[str, Mapping[tuple[str, str], tuple[float | None, str]]]
) -> "Figure":
    """Draws a heat map for each stage, one below the other: value and text of every pair, in either order."""
    height = 1.1 + 0.36 * len(names)
    with axes(height * len(tables)) as (figure, (first,)):
        first.remove()
        for index, (stage, cells) in enumerate(tables.items()):
            field = figure.add_subplot(len(tables), 1, index + 1)
            values = [[float("nan")] * len(names) for _ in names]
            for row, column in itertools.permutations(range(len(names)), 2):
                pair = names[row], names[column]
                value, text = cells.get(pair) or cells.get(pair[::-1]) or (None, "")
                values[row][column] = float("nan") if value is None else value
                colour = "black" if value is None or abs(value) < 0.8 else "white"
                field.text(column, row, text, ha="center", va="center", fontsize=6.5, color=colour)
            field.imshow(values, cmap="RdYlGn", vmin=-1, vmax=1, aspect="auto")
            field.set_title(f"Cohen's kappa {stage}", fontsize="medium")
            shown = [plain(name, 24) for name in names]
            field.set_xticks(range(len(names)), shown, rotation=30, ha="right")
            field.set_yticks(range(len(names)), shown)
    return figure


ROW = Row(
    title="how judges agree before and after their discussion: Cohen's kappa",
    source="Auto-Arena, section 4.4, Figures 3 and 4",
    options=TournamentOptions,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    shows="It shows whether judges say the same more often than chance has it, and what reading each other changes.",
    does_not_show=(
        "It does not show who is right: judges that follow each other agree as well. How far the scripted judges follow the"
        " others was chosen; no measured kappa is a replication of a printed one."
    ),
    any_manner=True,
)
