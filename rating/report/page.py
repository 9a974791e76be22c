"""The page of the report: a function of the records of a run."""

import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from rating.records.outcome import Outcome
from rating.records.record import Record
from rating.report import figures
from rating.report.matrix import pair_matrix
from rating.report.replays import pack
from rating.report.tables import sheet
from rating.schemes.leaderboard_rows import Leaderboard, SkillLeaderboard
from rating.schemes.summary import summarise
from rating.statistics.trueskill_rating import rate


def render_page(
    title: str, seed: int, boards: Sequence[Leaderboard], records: Sequence[Record], facts: dict[str, str]
) -> str:
    """Returns the report as one self-contained HTML page, the same bytes for the same records.

    Every text of a model or a user is escaped, or reaches the page as data that its script shows as text only.

    Args:
        title: name of the run.
        seed: root seed of the run.
        boards: the leaderboard of each environment.
        records: every match.
        facts: of the store; versions and rules are shown.
    """
    replays = pack(records)
    rules = {name.removeprefix("rules:"): json.loads(text) for name, text in facts.items() if name.startswith("rules:")}
    agents = {environment: list(table) for environment, table in rules.items()}
    index = _script_json({"matches": replays.index, "rules": rules, "agents": agents})
    status = [record.status for record in records]
    counts = ", ".join(
        f"{status.count(name)} {name}" for name in ("finished", "void", "bug", "unfinished") if name in status
    )
    outcomes = [record.outcome for record in records if record.outcome is not None]
    sections = [_section(board, [one for one in outcomes if one.environment == board.environment]) for board in boards]
    if len(boards) > 1:
        sections.append(_table(summarise(boards)))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    files = resources.files("rating.report")
    return environment.from_string((files / "page.html").read_text(encoding="utf-8")).render(
        title=title,
        seed=seed,
        counts=f"Matches: {counts or 'none'}.",
        versions=sorted(json.loads(facts.get("versions", "{}")).items()),
        sections=sections,
        index=Markup(index),
        chunks=replays.chunks,
        script=Markup((files / "page.js").read_text(encoding="utf-8")),
        nonce=hashlib.sha256(index.encode()).hexdigest()[:24],
    )


def _script_json(value: Any) -> str:
    """Returns JSON that no browser can take for the end of a script or for markup."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _table(board: Any) -> dict[str, Any]:
    shown = sheet(board)
    return {
        "name": shown.title,
        "note": ". ".join(shown.notes),
        "headings": shown.header,
        "rows": shown.rows,
        "figures": [],
        "matrix": None,
    }


def _section(board: Leaderboard, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    section = _table(board)
    if isinstance(board, SkillLeaderboard):
        rows = [row for row in board.rows if row.rating is not None]
        if rows:
            svg = figures.intervals(
                [row.policy for row in rows],
                [row.rating or 0.0 for row in rows],
                [row.low or 0.0 for row in rows],
                [row.high or 0.0 for row in rows],
                "Bradley-Terry rating in Elo with its 95 % interval",
            )
            section["figures"] = [
                Markup(svg),
                Markup(figures.trajectories(rate(outcomes).history, "TrueSkill mu ± sigma")),
            ]
        section["matrix"] = pair_matrix(outcomes)
    return section
