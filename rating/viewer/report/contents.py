"""Contents of the page besides the matches, of a run or of log files."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rating.play.run import suspensions
from rating.schemes import caveats
from rating.schemes.base import Scheme
from rating.schemes.battles import battle_figures
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.store.records import BUG, PLAYED, UNFINISHED, VOID, Outcome
from rating.store.state import RunState
from rating.viewer.report.costs import Costs, cost_sheet, match_cells, policy_cells
from rating.viewer.report.overview import Overview, overview
from rating.viewer.report.rated import Rated, rated_results
from rating.viewer.report.sections import (
    Section,
    Tab,
    failure_sections,
    judges_sections,
    leaderboard_sections,
    place_sections,
    rated_sections,
    study_sections,
    table_section,
    transport_sections,
    truth_sections,
)
from rating.viewer.report.tables import sheet
from rating.viewer.source import LogSource, RunSource, Source

if TYPE_CHECKING:
    from rating.store.reader import Reader


@dataclass(frozen=True)
class Contents:
    """The page besides the matches.

    Attributes:
        title: name of the run or of the log files.
        overview: the first screen.
        sections: all sections.
        facts: lines on the record: seed, versions, sources, seal and digest.
        match_costs: formatted cost of each match, by id.
    """

    title: str
    overview: Overview
    sections: Sequence[Section]
    facts: Sequence[str]
    match_costs: Mapping[str, str] = field(default_factory=dict)


EMPTY = Contents("", Overview("", [], None, [], []), [], [])
"""Contents without any result."""


def contents_of(source: Source) -> Contents:
    """Returns the contents of the report of a run or of log files."""
    return _of_log(source) if isinstance(source, LogSource) else _of_run(source)


def _of_run(source: RunSource) -> Contents:
    boards, outcomes = source.leaderboards(), by_environment(source.outcomes)
    parts = [
        (board, leaderboard_parts(board, outcomes[board.environment], source.run.scheme(board.environment)))
        for board in boards
    ]
    spent, summary = source.costs(boards), source.summary(boards)
    seed = source.run.config.seed
    return run_contents(source.title, seed, parts, summary, outcomes, spent, source.state, source.store)


def by_environment(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Returns outcomes by environment."""
    found: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.environment].append(outcome)
    return found


def leaderboard_parts(board: Leaderboard, outcomes: Sequence[Outcome], scheme: Scheme) -> list[Section]:
    """Returns the sections of an environment, without costs; the leaderboard is the first."""
    rated = rated_results(board, outcomes, scheme)
    return [
        *leaderboard_sections(board, caveats.figures(board, outcomes, scheme.figures), rated),
        *place_sections(board, outcomes, scheme),
        *(rated_sections(board.environment, rated) if rated else []),
        *judges_sections(board.environment, outcomes),
    ]


def run_contents(
    title: str,
    seed: int,
    parts: Sequence[tuple[Leaderboard, Sequence[Section]]],
    summary: Summary | None,
    outcomes: Mapping[str, Sequence[Outcome]],
    spent: Costs | None,
    state: RunState,
    store: "Reader",
) -> Contents:
    """Returns the contents of the page of a run.

    Args:
        title: name of the run.
        seed: root seed of the run.
        parts: the leaderboard of each environment, with its sections as ``leaderboard_parts`` returns them.
        summary: scores over all environments; ``None`` for a single one.
        outcomes: outcomes by environment.
        spent: costs of the models; ``None`` if no model was called.
        state: recorded state of the run.
        store: record of the run.
    """
    sections = [table_section(summary)] if summary is not None else []
    for board, (first, *others) in parts:
        cells = policy_cells(spent, board.environment)
        sections += [replace(first, shown=sheet(board, wide=True, costs=cells)), *others]
    sections += truth_sections({board.environment: outcomes[board.environment] for board, _ in parts})
    sections += failure_sections(outcomes, store.reasons(), suspensions(state))
    if spent is not None:
        sections.append(Section(cost_sheet(spent), Tab.COST))
    boards = [board for board, _ in parts]
    return Contents(title, overview(boards, summary, spent), sections, _facts(seed, state, store), match_cells(spent))


def _facts(seed: int, state: RunState, store: "Reader") -> list[str]:
    statuses = store.statuses()
    counts = ", ".join(f"{statuses[name]} {name}" for name in (*PLAYED, VOID, BUG, UNFINISHED) if name in statuses)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(state.versions().items()))
    return [
        f"Seed {seed}. Matches: {counts or 'none'}. {versions + '.' if versions else ''}",
        *_sources(state),
        f"Seal of the record, without costs: {store.sealed or 'none, the run has not ended'}.",
        f"Digest of play: {store.digest() or 'none'}.",
    ]


def _sources(state: RunState) -> list[str]:
    """Returns lines that name the package of third-party environments and the sources of data sets."""
    lines = [f"{environment} is of {package}." for environment, package in state.distributions().items()]
    for environment, sources in state.all_sources().items():
        shown = [f"{source} ({about})" for source, about in sources.items()]
        lines.append(f"Data of {environment}: {'; '.join(shown)}.")
    return lines


def _of_log(source: LogSource) -> Contents:
    boards = source.leaderboards()
    summary = source.summary(boards)
    sections = [table_section(summary)] if summary is not None else []
    for board in boards:
        rated = Rated(board, source.comparisons[board.environment])
        sections += leaderboard_sections(board, battle_figures(board, rated.comparisons), rated)
        sections += rated_sections(board.environment, rated)
    for environment, said in source.log.judgements.items():
        sections += study_sections(environment, said)
    sections += transport_sections(source.log.judgements)
    return Contents(source.title, overview(boards, summary, None), sections, source.provenance())
