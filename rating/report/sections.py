"""The sections of the report: a table, its figures and its matrix of pairs for each environment."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from llmarena_envs.core.options import OptionError
from rating.judgements.from_records import declared_verdicts, judgements_of
from rating.judgements.judgement import Judgement
from rating.judgements.study import study
from rating.records.outcome import Outcome
from rating.report import figures
from rating.report.intervals import plot_intervals
from rating.report.judges import judge_sheets, kappa_charts
from rating.report.matrix import pair_matrix
from rating.report.tables import NOTHING, Sheet, sheet
from rating.schemes import reservations
from rating.schemes.figures import Grid, Intervals, Pairs, Trajectories
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary


def table_section(board: Leaderboard | Summary, costs: Mapping[str, str] = NOTHING) -> dict[str, Any]:
    """Returns what the page's template needs to show a table with all its columns; ``costs`` are those of ``sheet``."""
    return sheet_section(sheet(board, wide=True, costs=costs))


def sheet_section(shown: Sheet) -> dict[str, Any]:
    """Returns what the template needs to show a table of texts."""
    return {
        "name": shown.title,
        "notes": shown.notes,
        "headings": shown.header,
        "texts": shown.texts,
        "rows": shown.rows,
        "figures": [],
        "grids": [],
        "matrix": None,
    }


def leaderboard_section(
    board: Leaderboard, outcomes: Sequence[Outcome], costs: Mapping[str, str] = NOTHING
) -> dict[str, Any]:
    """Returns what the template needs to show a leaderboard with its figures; ``outcomes`` are those it was made from."""
    section = table_section(board, costs)
    for figure in reservations.figures(board, outcomes):
        match figure:
            case Intervals():
                section["figures"].append(Markup(plot_intervals(figure, board.environment)))
            case Trajectories(history, label):
                section["figures"].append(Markup(figures.trajectories(history, label)))
            case Grid():
                section["grids"].append(figure)
            case Pairs(table):
                section["matrix"] = pair_matrix(table)
    return section


def judges_sections(environment: str, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Returns what the template needs to show the judges of an environment; nothing where no judge gave a verdict.

    Args:
        environment: its name.
        outcomes: of it.
    """
    verdicts = declared_verdicts(environment)
    return study_sections(environment, judgements_of(outcomes, verdicts) if verdicts else [])


def study_sections(environment: str, judgements: Sequence[Judgement]) -> list[dict[str, Any]]:
    """Returns what the template needs to show judges; nothing where no judge gave a verdict.

    Args:
        environment: what they judged.
        judgements: theirs.
    """
    if all(one.final is None and one.first is None for one in judgements):
        return []
    try:
        found = study(judgements)
    except OptionError as error:  # of somebody's own environment: the rest of the report is made all the same
        return [sheet_section(Sheet(f"Judges of {environment}", [], [], [str(error)], []))]
    sections = [
        sheet_section(shown._replace(title=f"Judges of {environment}" + (f": {shown.title}" if index else "")))
        for index, shown in enumerate(judge_sheets(found, ""))
    ]
    sections[0]["figures"] = [Markup(figures.heat_maps(*chart)) for chart in kappa_charts(found)]
    return sections
