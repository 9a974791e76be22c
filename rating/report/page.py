"""The page of the report: a function of the records of a run."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, TextIO

import jinja2
from markupsafe import Markup

from rating.judgements.judgement import Judgement
from rating.records.outcome import Outcome
from rating.records.record import Record
from rating.records.store import fact_table
from rating.report.costs import Costs, cost_sheet, match_cells, policy_cells
from rating.report.replays import DRAWN_TURNS, Replays
from rating.report.sections import judges_sections, leaderboard_section, sheet_section, study_sections, table_section
from rating.report.transitivity import transitivity_sheets
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary


@dataclass(frozen=True)
class Run:
    """What the page shows besides the matches.

    Attributes:
        title: name of the run.
        seed: root seed of the run.
        boards: the leaderboard of each environment.
        summary: the table over all of them; ``None`` for a single one.
        outcomes: of every match that has ended, by environment and number.
        statuses: number of matches with each status.
        facts: of the store; versions, rules and sources of data are shown.
        seal: of the run, or an empty string.
        digest: of what was played.
        costs: of its models; ``None`` where none was called.
    """

    title: str
    seed: int
    boards: Sequence[Leaderboard]
    summary: Summary | None
    outcomes: Sequence[Outcome]
    statuses: Mapping[str, int]
    facts: Mapping[str, str]
    seal: str
    digest: str
    costs: Costs | None = None


def write_page(run: Run, records: Iterable[Record], file: TextIO) -> None:
    """Writes the report as one self-contained HTML page, the same bytes for the same records, one match at a time.

    Every text of a model or a user is escaped, or reaches the page as data that its script shows as text only.

    Args:
        run: what the page shows besides the matches.
        records: every match.
        file: where to.

    Raises:
        RunError: if the record is damaged.
    """
    rules = {
        name.removeprefix("rules:"): fact_table(name, run.facts) for name in run.facts if name.startswith("rules:")
    }
    agents = {environment: list(table) for environment, table in rules.items()}
    replays = Replays(records, match_cells(run.costs))
    counts = ", ".join(
        f"{run.statuses[name]} {name}" for name in ("finished", "void", "bug", "unfinished") if name in run.statuses
    )
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in run.outcomes:
        outcomes[outcome.environment].append(outcome)
    sections = [
        leaderboard_section(board, outcomes[board.environment], policy_cells(run.costs, board.environment))
        for board in run.boards
    ]
    for board in run.boards:
        sections += map(sheet_section, transitivity_sheets(board, outcomes[board.environment]))
        sections += judges_sections(board.environment, outcomes[board.environment])
    if run.summary is not None:
        sections.append(table_section(run.summary))
    if run.costs is not None:
        sections.append(sheet_section(cost_sheet(run.costs)))
    versions = ", ".join(f"{name} {version}" for name, version in sorted(fact_table("versions", run.facts).items()))
    _write(
        file,
        title=run.title,
        lead=f"Seed {run.seed}. Matches: {counts or 'none'}. {versions + '.' if versions else ''}",
        lines=_sources(run.facts),
        seal=run.seal,
        digest=run.digest,
        sections=sections,
        replays=replays,
        # Asked for after the chunks, which fill it.
        index=lambda: Markup(
            _script_json({"matches": replays.index, "rules": rules, "agents": agents, "drawn": DRAWN_TURNS})
        ),
        nonce=_nonce(f"{run.seal} {run.digest} {json.dumps(dict(run.facts))}"),
    )


def write_results_page(
    title: str,
    lines: Sequence[str],
    boards: Sequence[Leaderboard],
    summary: Summary | None,
    judgements: Mapping[str, Sequence[Judgement]],
    file: TextIO,
) -> None:
    """Writes the report of results of which there are no matches, as ``write_page`` does.

    Args:
        title: what is shown.
        lines: where it comes from.
        boards: the leaderboard of each environment.
        summary: the table over all of them; ``None`` for a single one.
        judgements: by environment, those of its judges.
        file: where to.
    """
    sections = [leaderboard_section(board, ()) for board in boards]
    for environment, said in judgements.items():
        sections += study_sections(environment, said)
    if summary is not None:
        sections.append(table_section(summary))
    lead, *rest = lines
    _write(file, title=title, lead=lead, lines=rest, sections=sections, replays=None, nonce=_nonce(json.dumps(lines)))


def _write(file: TextIO, **values: Any) -> None:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    files = resources.files("rating.report")
    page = environment.from_string((files / "page.html").read_text(encoding="utf-8"))
    script = Markup((files / "page.js").read_text(encoding="utf-8"))
    for piece in page.generate(script=script, **values):
        file.write(piece)


def _sources(facts: Mapping[str, str]) -> list[str]:
    """Returns a line for each environment of another package, and for each that is played with data: where they come from."""
    lines = []
    for name in facts:
        if name.startswith("distribution:"):
            lines.append(f"{name.removeprefix('distribution:')} is of {facts[name]}.")
        if name.startswith("sources:"):
            shown = [f"{source} ({about})" for source, about in fact_table(name, facts).items()]
            lines.append(f"Data of {name.removeprefix('sources:')}: {'; '.join(shown)}.")
    return lines


def _nonce(what: str) -> str:
    """Returns what marks the page's own scripts; nobody whose words stand in the page could know what the others would say."""
    return hashlib.sha256(what.encode()).hexdigest()[:24]


def _script_json(value: Any) -> str:
    """Returns JSON that no browser can take for the end of a script or for markup."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
