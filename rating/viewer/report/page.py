"""The HTML page of the report, a pure function of the records of a run."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import resources
from typing import Any, TextIO

import jinja2
from markupsafe import Markup

from agents.turn import TurnSettings
from rating.judgements import Judgement
from rating.play import run_directory
from rating.schemes import caveats
from rating.schemes.base import Scheme
from rating.schemes.battles import battle_figures
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary
from rating.stats.bradley_terry import Comparisons
from rating.store.records import BUG, PLAYED, UNFINISHED, VOID, Outcome, Record
from rating.store.state import RunState
from rating.viewer.report.costs import Costs, cost_sheet, match_cells, policy_cells
from rating.viewer.report.overview import overview
from rating.viewer.report.plots import Plot
from rating.viewer.report.rated import Rated, rated_results
from rating.viewer.report.replays import DRAWN_TURNS, Replays, pack
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
)
from rating.viewer.source import LogSource, RunSource, Source

_SCRIPTS = ("basics.js", "tables.js", "tabs.js")
_MATCH_SCRIPTS = ("matches.js", "selection.js", "list.js", "turn.js", "match.js", "page.js")


@dataclass(frozen=True)
class RunContents:
    """Contents of the page besides the matches.

    Attributes:
        title: name of the run.
        seed: root seed of the run.
        boards: the leaderboard of each environment.
        schemes: the scheme of each environment.
        summary: summary of all environments; ``None`` for a single one.
        outcomes: outcomes of all ended matches, by environment and number.
        statuses: number of matches by status.
        state: recorded state of the run; the page shows versions, rules and sources of data.
        seal: seal of the run, or an empty string.
        digest: play digest of the run.
        costs: costs of the models; ``None`` if no model was called.
        turns: turn settings with the invalid-reply policy, by environment.
        reasons: why matches do not count: environment, status, reason and number of matches.
    """

    title: str
    seed: int
    boards: Sequence[Leaderboard]
    schemes: Mapping[str, Scheme]
    summary: Summary | None
    outcomes: Sequence[Outcome]
    statuses: Mapping[str, int]
    state: RunState
    seal: str
    digest: str
    costs: Costs | None = None
    turns: Mapping[str, TurnSettings] = field(default_factory=dict)
    reasons: Sequence[tuple[str, str, str, int]] = ()

    @cached_property
    def sections(self) -> list[Section]:
        """All sections except the matches."""
        outcomes: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in self.outcomes:
            outcomes[outcome.environment].append(outcome)
        sections = []
        for board in self.boards:
            own, scheme = outcomes[board.environment], self.schemes[board.environment]
            rated = rated_results(board, own, scheme)
            drawn = caveats.figures(board, own, scheme.figures)
            sections += leaderboard_sections(board, drawn, policy_cells(self.costs, board.environment), rated)
            sections += place_sections(board, own, scheme)
            sections += rated_sections(board.environment, rated) if rated else []
            sections += judges_sections(board.environment, own)
        if self.summary is not None:
            sections.insert(0, table_section(self.summary))
        sections += failure_sections(outcomes, self.reasons)
        if self.costs is not None:
            sections.append(Section(cost_sheet(self.costs), Tab.COST))
        return sections


@dataclass(frozen=True)
class Results:
    """Contents of the page for the results of a log, which has no matches.

    Attributes:
        title: title of the page.
        lines: sources of the results.
        boards: the leaderboard of each environment.
        summary: summary of all environments; ``None`` for a single one.
        comparisons: results by environment.
        judgements: judgements by environment.
    """

    title: str
    lines: Sequence[str]
    boards: Sequence[Leaderboard]
    summary: Summary | None
    comparisons: Mapping[str, Comparisons]
    judgements: Mapping[str, Sequence[Judgement]]

    @cached_property
    def sections(self) -> list[Section]:
        """All sections."""
        sections = []
        for board in self.boards:
            rated = Rated(board, self.comparisons[board.environment])
            sections += leaderboard_sections(board, battle_figures(board, rated.comparisons), rated=rated)
            sections += rated_sections(board.environment, rated)
        for environment, said in self.judgements.items():
            sections += study_sections(environment, said)
        if self.summary is not None:
            sections.insert(0, table_section(self.summary))
        return sections


@dataclass(frozen=True)
class Page:
    """A report ready to be written.

    Attributes:
        plots: figures of the report.
        write: writes the page to a file.
    """

    plots: Sequence[Plot]
    write: Callable[[TextIO], None]


def page_of(source: Source, matches: Collection[str] | None = None) -> Page:
    """Makes the report of a run or a log; only its matches are read when it is written.

    Args:
        source: of the results, open until the page is written.
        matches: ids of the matches to show, by default all.
    """
    if isinstance(source, RunSource):
        run = _run_of(source)
        shown = (one for one in source.store.records() if matches is None or one.match.id in matches)
        return Page(_plots_of(run.sections), partial(write_page, run, shown))
    results = _results_of(source)
    return Page(_plots_of(results.sections), partial(write_results_page, results))


def _plots_of(sections: Iterable[Section]) -> list[Plot]:
    return [plot for section in sections for plot in section.plots]


def _run_of(source: RunSource) -> RunContents:
    config, store, boards = source.run.config, source.store, source.leaderboards()
    return RunContents(
        title=source.title,
        seed=config.seed,
        boards=boards,
        schemes={board.environment: source.run.scheme(board.environment) for board in boards},
        summary=source.summary(boards),
        outcomes=source.outcomes,
        statuses=store.statuses(),
        state=run_directory.read_state(store),
        seal=store.sealed,
        digest=store.digest(),
        costs=source.costs(boards),
        turns={item.name: config.turn_settings(item.name) for item in config.environment},
        reasons=store.reasons(),
    )


def _results_of(source: LogSource) -> Results:
    boards = source.leaderboards()
    return Results(
        source.title, source.provenance(), boards, source.summary(boards), source.comparisons, source.log.judgements
    )


def write_page(run: RunContents, records: Iterable[Record], file: TextIO) -> None:
    """Writes the report as one self-contained HTML page, one match at a time.

    The output is deterministic. Texts of models and users are escaped, or embedded as data that the script displays as
    plain text.

    Args:
        run: contents of the page besides the matches.
        records: records of all matches.
        file: output file.

    Raises:
        RunError: if a record is damaged.
    """
    rules = run.state.all_rules()
    agents = {environment: list(table) for environment, table in rules.items()}
    replays = Replays(records, match_cells(run.costs), rules, run.turns)
    counts = ", ".join(
        f"{run.statuses[name]} {name}" for name in (*PLAYED, VOID, BUG, UNFINISHED) if name in run.statuses
    )
    versions = ", ".join(f"{name} {version}" for name, version in sorted(run.state.versions().items()))
    _write(
        file,
        title=run.title,
        overview=overview(run.boards, run.summary, run.costs),
        facts=[
            f"Seed {run.seed}. Matches: {counts or 'none'}. {versions + '.' if versions else ''}",
            *_sources(run.state),
            f"Seal of the record, without costs: {run.seal or 'none, the run has not ended'}.",
            f"Digest of play: {run.digest or 'none'}.",
        ],
        tabs=_tabs(run.sections),
        replays=replays,
        # Rendered after the chunks, which fill the index.
        index=lambda: pack(
            json.dumps(
                {**replays.index.table(), "rules": rules, "agents": agents, "drawn": DRAWN_TURNS}, separators=(",", ":")
            )
        ),
        nonce=_nonce(f"{run.seal} {run.digest} {json.dumps(dict(run.state.facts))}"),
    )


def write_results_page(results: Results, file: TextIO) -> None:
    """Writes the report of a log, as ``write_page`` does for runs."""
    _write(
        file,
        title=results.title,
        overview=overview(results.boards, results.summary, None),
        facts=results.lines,
        tabs=_tabs(results.sections),
        replays=None,
        nonce=_nonce(json.dumps(results.lines)),
    )


def _write(file: TextIO, **values: Any) -> None:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    files = resources.files("rating.viewer.report")
    page = environment.from_string((files / "page.html").read_text(encoding="utf-8"))
    names = _SCRIPTS if values["replays"] is None else (*_SCRIPTS, *_MATCH_SCRIPTS)
    script = Markup("\n".join((files / name).read_text(encoding="utf-8") for name in names))
    style = Markup((files / "page.css").read_text(encoding="utf-8"))
    for piece in page.generate(script=script, style=style, **values):
        file.write(piece)


def _tabs(sections: Sequence[Section]) -> list[tuple[Tab, list[Section]]]:
    """Returns the sections of each part of the page; the last part always stands."""
    found = [(tab, [section for section in sections if section.tab is tab]) for tab in Tab]
    return [(tab, own) for tab, own in found if own or tab is Tab.METHODS]


def _sources(state: RunState) -> list[str]:
    """Returns lines that name the package of third-party environments and the sources of data sets."""
    lines = [f"{environment} is of {package}." for environment, package in state.distributions().items()]
    for environment, sources in state.all_sources().items():
        shown = [f"{source} ({about})" for source, about in sources.items()]
        lines.append(f"Data of {environment}: {'; '.join(shown)}.")
    return lines


def _nonce(what: str) -> str:
    """Returns a script nonce (CSP) from a hash of the contents, unpredictable for authors of texts in the page."""
    return hashlib.sha256(what.encode()).hexdigest()[:24]
