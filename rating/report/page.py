"""The page of the report: a function of the records of a run."""

import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from rating.records.record import Record
from rating.report.replays import pack
from rating.report.sections import leaderboard_section, table_section
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import summarise


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
    sections = [
        leaderboard_section(board, [one for one in outcomes if one.environment == board.environment])
        for board in boards
    ]
    if len(boards) > 1:
        sections.append(table_section(summarise(boards)))
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
