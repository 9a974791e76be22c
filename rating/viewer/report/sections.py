"""Sections of the report: a table with optional figures, further tables and a matrix."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from markupsafe import Markup

from llmarena_envs.core.options import OptionError
from rating.judge_errors import transport_between
from rating.judgements import Judgement, declared_truths, declared_verdicts, judgements_of
from rating.judges import study
from rating.schemes.base import Scheme
from rating.schemes.figures import Figure as AnyFigure
from rating.schemes.figures import Grid, Groups, HeadToHead, Intervals, Matrix, Trajectories
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.store.records import Outcome
from rating.viewer.report import figures
from rating.viewer.report.by_seat import place_tables
from rating.viewer.report.calibrated import calibration_sheet
from rating.viewer.report.failures import failure_shares, failure_sheet, reasons_grid
from rating.viewer.report.judge_errors import transport_sheet
from rating.viewer.report.judges import judge_sheets, kappa_charts
from rating.viewer.report.matrix import PageMatrix, mean_matrix, pair_matrix, score_table
from rating.viewer.report.plots import Plot
from rating.viewer.report.rated import Rated
from rating.viewer.report.tables import Sheet, sheet
from rating.viewer.report.transitivity import transitivity_sheet

T = TypeVar("T")


class Tab(StrEnum):
    """A part of the page: a group of sections."""

    GAMES = "Games"
    PAIRS = "Pairs"
    JUDGES = "Judges"
    FAILURES = "Failures"
    COST = "Cost"
    PROGRESS = "Progress"
    MATCHES = "Matches"
    METHODS = "Methods"


@dataclass
class Section:
    """A section of the page.

    Attributes:
        shown: the table.
        tab: its part of the page.
        plots: figures below the table, and as files.
        grids: further tables.
        matrix: pairwise results of policies, or ``None``; its plot is a file only.
    """

    shown: Sheet
    tab: Tab
    plots: list[Plot] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    matrix: PageMatrix | None = None

    @property
    def figures(self) -> list[Markup]:
        """The plots that the page shows, as markup; a matrix stands for its own."""
        return [] if self.matrix is not None else [plot.markup() for plot in self.plots]


def _plot(environment: str, what: str, label: str, draw: Callable[[T, str], str], shown: T) -> Plot:
    return Plot(environment, what, draw(shown, f"{environment}: {label}"))


def table_section(board: Leaderboard | Summary) -> Section:
    """Returns a section with all columns of a table."""
    return Section(sheet(board, wide=True), Tab.GAMES)


def leaderboard_sections(board: Leaderboard, drawn: Iterable[AnyFigure], rated: Rated | None = None) -> list[Section]:
    """Returns a leaderboard with its figures, and the results of its pairs if it has them.

    Args:
        board: the leaderboard.
        drawn: its figures, without withheld policies (``reservations.figures``).
        rated: Bradley-Terry results, for predicted scores beside the pairwise results; ``None`` without them.
    """
    section, pairs = table_section(board), []

    def add(what: str, label: str, draw: Callable[[T, str], str], shown: T) -> None:
        section.plots.append(_plot(board.environment, what, label, draw, shown))

    def add_pairs(matrix: PageMatrix, table: Matrix) -> None:
        found = Section(Sheet(f"Pairs: {board.environment}", [], [], [], []), Tab.PAIRS, matrix=matrix)
        if len(table.table) <= figures.MOST_IN_A_MAP:
            found.plots.append(_plot(board.environment, "pairs", table.label, figures.matrix, table))
        pairs.append(found)

    for shown in drawn:
        if isinstance(shown, Matrix | HeadToHead) and not any(any(row.values()) for row in shown.table.values()):
            continue
        match shown:
            case Intervals():
                add("ratings" if board.is_rated else "means", shown.label, figures.intervals, shown)
            case Trajectories():
                add("course", f"{shown.label} after every match", figures.trajectories, shown)
            case Groups():
                add("parts", shown.label, figures.groups, shown)
            case Grid():
                section.grids.append(shown)
            case Matrix():
                add_pairs(mean_matrix(shown), shown)
            case HeadToHead():
                add_pairs(pair_matrix(shown, rated.expected() if rated else NOTHING_EXPECTED), score_table(shown))
    return [section, *pairs]


NOTHING_EXPECTED: Mapping[tuple[str, str], float] = {}


def place_sections(board: Leaderboard, outcomes: Sequence[Outcome], scheme: Scheme) -> list[Section]:
    """Returns results by seat, role and side, if an environment has them."""
    sections = []
    for what, shown, drawn in place_tables(board, outcomes, scheme.seat_groups):
        plot = _plot(board.environment, what, drawn.label, figures.groups, drawn)
        sections.append(Section(shown, Tab.GAMES, [plot]))
    return sections


def rated_sections(environment: str, rated: Rated) -> list[Section]:
    """Returns the calibration of the ratings and the transitivity test, if available."""
    sections = []
    if (found := rated.calibration) is not None:
        plot = _plot(environment, "calibration", "predicted and observed scores", figures.calibration, found)
        sections.append(Section(calibration_sheet(environment, found), Tab.METHODS, [plot]))
    if (shown := transitivity_sheet(environment, rated.comparisons, rated.ratings)) is not None:
        sections.append(Section(shown, Tab.PAIRS))
    return sections


def failure_sections(
    outcomes: Mapping[str, Sequence[Outcome]],
    reasons: Sequence[tuple[str, str, str, int]],
    suspended: Mapping[str, str],
) -> list[Section]:
    """Returns the failures section, or no section without failures.

    Args:
        outcomes: outcomes by environment.
        reasons: environment, status, reason and number of failed matches.
        suspended: reasons by suspended policy.
    """
    shown = failure_sheet([one for own in outcomes.values() for one in own], suspended)
    if shown is None:
        return []
    plots = [
        _plot(environment, "failures", drawn.label, figures.shares, drawn)
        for environment, own in outcomes.items()
        if (drawn := failure_shares(own)) is not None
    ]
    return [Section(shown, Tab.FAILURES, plots, reasons_grid(reasons))]


def judges_sections(environment: str, outcomes: Sequence[Outcome]) -> list[Section]:
    """Returns the judge sections of an environment, or none without verdicts.

    Args:
        environment: environment name.
        outcomes: outcomes of the environment.
    """
    return study_sections(environment, _judgements(environment, outcomes))


def _judgements(environment: str, outcomes: Sequence[Outcome]) -> list[Judgement]:
    verdicts = declared_verdicts(environment)
    return judgements_of(outcomes, verdicts, declared_truths(environment)) if verdicts else []


def truth_sections(outcomes: Mapping[str, Sequence[Outcome]]) -> list[Section]:
    """Returns the transport of the judges' calibrations between environments with truth, or none for fewer than two.

    Args:
        outcomes: outcomes by environment.
    """
    named = [environment for environment in outcomes if declared_truths(environment)]
    if len(named) < 2:
        return []
    return transport_sections({environment: _judgements(environment, outcomes[environment]) for environment in named})


def transport_sections(judged: Mapping[str, Sequence[Judgement]]) -> list[Section]:
    """Returns the transport of the judges' calibrations between environments, or none without truth in two.

    Args:
        judged: judgements by environment.
    """
    shown = transport_sheet(transport_between(judged), "environments") if len(judged) > 1 else None
    return [Section(shown, Tab.JUDGES)] if shown else []


def study_sections(environment: str, judgements: Sequence[Judgement]) -> list[Section]:
    """Returns the judge sections of judgements, or none without verdicts.

    Args:
        environment: environment name.
        judgements: judgements of the environment.
    """
    if all(one.final is None and one.first is None for one in judgements):
        return []
    try:
        found = study(judgements)
    except OptionError as error:  # custom environment: the rest of the report is still made
        return [Section(Sheet(f"Judges of {environment}", [], [], [str(error)], []), Tab.JUDGES)]
    sections = [
        Section(shown._replace(title=f"Judges of {environment}" + (f": {shown.title}" if index else "")), Tab.JUDGES)
        for index, shown in enumerate(judge_sheets(found, ""))
    ]
    sections[0].plots = [
        Plot(environment, "judges", figures.heat_maps(*chart, f"{environment}: kappa of every two judges"))
        for chart in kappa_charts(found)
    ]
    return sections
