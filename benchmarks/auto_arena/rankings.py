"""Correlation of a leaderboard with a human ranking (Auto-Arena, arXiv 2405.20267, section 4.2, Tables 1 and 4)."""

from collections.abc import Mapping, Sequence

from benchmarks.auto_arena.printed import claims_table, correlation_table
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from rating.running.run_file import RunConfig


def plan(options: RowOptions) -> dict[str, RunConfig]:
    """Returns nothing to play: the table is computed from published scores."""
    return {}


def measure(
    runs: Mapping[str, PlayedRun], options: RowOptions, scores: str, human: str, printed: Sequence[str]
) -> Result:
    """Returns the printed correlations and what the printed scores give."""
    published = load_published("benchmarks.auto_arena")
    table = correlation_table(published[scores], human, [published[key] for key in printed])
    return Result([table, claims_table(published["improvement"])])


def make_row(models: int, table: str, scores: str, human: str, printed: Sequence[str]) -> Row[RowOptions]:
    """Returns the row of a table.

    Args:
        models: how many the paper ranks.
        table: its table.
        scores: key of the published scores.
        human: their column with the human ranking.
        printed: keys of the printed correlations.
    """
    return Row(
        title=f"correlation of benchmarks with a human ranking of {models} models",
        source=f"Auto-Arena, section 4.2, {table}",
        options=RowOptions,
        plan=plan,
        measure=lambda runs, options: measure(runs, options, scores, human, printed),
        precision=lambda options: "nothing is played",
        shows="It shows what the printed scores say of the printed correlations.",
        does_not_show="It does not show how sure a correlation of a few models is.",
    )
