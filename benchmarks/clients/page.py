"""The generated parts of ``docs/clients.md``: the tables and the scripts, each between two comments."""

import re
from collections.abc import Sequence

from benchmarks.clients.report import GROUPS, HERE, SCRIPT, Report
from benchmarks.clients.trials import ACCEPTED, AS_PETTINGZOO, Row
from llmarena_envs.catalogue import CATALOGUE

PAGE = HERE.parents[1] / "docs" / "clients.md"

_BLOCK = re.compile(r"(<!-- begin (?P<name>[\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SIGNS = {ACCEPTED: "yes", AS_PETTINGZOO: "= PZ"}
_FORMS = {"vector": "vector", "text": "text", "parallel": "vector, parallel"}


def fill(page: str, reports: Sequence[Report]) -> str:
    """Returns a page with its generated parts put in.

    Args:
        page: the page, with ``<!-- begin NAME -->`` and ``<!-- end -->`` around each part.
        reports: what became of the clients.

    Raises:
        ValueError: if the page asks for a part that there is not.
    """
    parts = {"versions": _versions(reports), "verdicts": _verdicts(reports)}
    for report in reports:
        parts[f"script {report.client}"] = _script(report.client)

    def part(match: re.Match[str]) -> str:
        if match["name"] not in parts:
            raise ValueError(f"page: expected one of {', '.join(parts)} after 'begin', got {match['name']!r}")
        return f"{match[1]}{parts[match['name']]}{match[3]}"

    return _BLOCK.sub(part, page)


def table(rows: Sequence[Row]) -> str:
    """Returns rows as lines of a plain table, for the terminal."""
    cells = [
        (
            row.client,
            row.trial,
            row.form,
            row.game,
            row.verdict,
            row.reason or (row.peer_reason and f"({row.peer}: {row.peer_reason})"),
        )
        for row in rows
    ]
    return "\n".join(" | ".join(row) for row in cells)


def _versions(reports: Sequence[Report]) -> str:
    lines = ["| client | environment | run on | versions | the script below |", "|---|---|---|---|---|"]
    group_of = {client: group for group, clients in GROUPS.items() for client in clients}
    for report in reports:
        versions = ", ".join(
            f"{name} {number}" for name, number in {"Python": report.python, **report.versions}.items()
        )
        script = next((row for row in report.rows if row.trial == SCRIPT), None)
        runs = "runs" if script and script.verdict == ACCEPTED else "does not run"
        lines.append(f"| `{report.client}` | `{group_of[report.client]}` | {report.date} | {versions} | {runs} |")
    return "\n".join(lines) + "\n"


def _verdicts(reports: Sequence[Report]) -> str:
    """Returns a table with a line for every way to use a client and a column for every environment, and its notes."""
    rows = [row for report in reports for row in report.rows if row.trial != SCRIPT]
    notes = _Notes()
    lines = [
        f"| client | what is tried | form | {' | '.join(_title(entry.name) for entry in CATALOGUE)} |",
        "|---" * (3 + len(CATALOGUE)) + "|",
    ]
    for line in dict.fromkeys((row.client, row.trial, row.form) for row in rows):
        of_line = {row.game: row for row in rows if (row.client, row.trial, row.form) == line}
        cells = [notes.cell(of_line[entry.name]) if entry.name in of_line else "" for entry in CATALOGUE]
        if "" in of_line:  # a client that did not come to its trials
            cells[0] = notes.cell(of_line[""])
        lines.append(f"| `{line[0]}` | {line[1]} | {_FORMS.get(line[2], '')} | {' | '.join(cells)} |")
    lines += ["", *[f"{number}. {note}" for number, note in enumerate(notes.texts, 1)]]
    return "\n".join(lines) + "\n"


class _Notes:
    """The notes below a table: one for all errors of a kind that one way to use a client meets.

    Attributes:
        texts: the notes in order.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def cell(self, row: Row) -> str:
        """Returns a verdict with the number of its note."""
        sign = _SIGNS.get(row.verdict, "no")
        if row.verdict == ACCEPTED and not row.peer_reason:
            return sign
        if row.verdict == ACCEPTED:
            text = f"PettingZoo's `{row.peer}` is not accepted: `{_code(row.peer_reason)}`"
        else:
            text = f"`{_code(row.reason)}`"
        kind = (row.client, row.trial, sign, row.peer if row.verdict == ACCEPTED else row.reason.split(":")[0])
        if kind not in self._numbers:
            if text not in self.texts:
                self.texts.append(text)
            self._numbers[kind] = self.texts.index(text) + 1
        return f"{sign} ({self._numbers[kind]})"


def _code(text: str) -> str:
    return text.replace("`", "'").replace("|", "/")


def _title(name: str) -> str:
    return name.rsplit("_v", 1)[0].replace("_", " ")


def _script(client: str) -> str:
    text = (HERE / "scripts" / f"{client}.py").read_text(encoding="utf-8")
    return f"```python\n{text}```\n"
