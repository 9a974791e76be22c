"""Reports: what a client made of everything, as a table, as JSON, and beside an earlier one."""

import json
import platform
import runpy
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.clients.trials import ACCEPTED, REFUSED, Row, attempt, reason_of, run_trials

HERE = Path(__file__).parent
VERDICTS = HERE / "verdicts.json"

GROUPS = {
    "together": (
        "pettingzoo",
        "gymnasium_vector",
        "supersuit",
        "sb3",
        "tianshou",
        "torchrl",
        "langchain",
        "shimmy",
    ),
    "rllib": ("rllib",),
    "agilerl": ("agilerl",),
}
"""The clients that share one virtual environment, by the name of the file below ``requirements`` that says what is in it."""

SCRIPT = "script"
"""The trial that runs the script of the documentation."""

_TRIAL_SECONDS = 120


@dataclass(frozen=True)
class Report:
    """What became of a client.

    Attributes:
        client: the module below ``benchmarks.clients``.
        date: the day, as in ``2026-11-22``.
        python: version of Python.
        versions: versions of the packages that have a part in it.
        rows: the verdicts.
    """

    client: str
    date: str
    python: str
    versions: dict[str, str]
    rows: tuple[Row, ...]

    def as_json(self) -> dict[str, Any]:
        """Returns what ``from_json`` reads."""
        rows = [
            {name: value for name, value in row._asdict().items() if value and name != "client"} for row in self.rows
        ]
        return {
            "client": self.client,
            "date": self.date,
            "python": self.python,
            "versions": self.versions,
            "rows": rows,
        }


def from_json(data: dict[str, Any]) -> Report:
    """Reads what ``as_json`` returned."""
    rows = tuple(Row(**{"client": data["client"], "form": "", "game": "", **row}) for row in data["rows"])
    return Report(data["client"], data["date"], data["python"], data["versions"], rows)


def failed(client: str, reason: str) -> Report:
    """Returns the report of a client that did not come to its trials, or not to their end."""
    row = Row(client, "all trials", "", "", REFUSED, reason)
    return Report(client, _today(), platform.python_version(), {}, (row,))


def run_client(client: str, smoke: bool) -> Report:
    """Runs a client's trials and its script in this interpreter.

    Args:
        client: one of the names in ``GROUPS``.
        smoke: whether to run the fewest steps.
    """
    try:
        module = import_module(f"benchmarks.clients.{client}")
    except ImportError as error:
        return failed(client, reason_of(error))
    error_of_script = attempt(lambda: runpy.run_path(str(HERE / "scripts" / f"{client}.py")), _TRIAL_SECONDS)
    script = Row(client, SCRIPT, "", "", REFUSED if error_of_script else ACCEPTED, reason_of(error_of_script))
    rows = run_trials(client, module.TRIALS, smoke, _TRIAL_SECONDS)
    return Report(client, _today(), platform.python_version(), _versions(module.PACKAGES), (script, *rows))


def read_verdicts(path: Path = VERDICTS) -> list[Report]:
    """Reads a file of verdicts; there are none before the first is written."""
    return [from_json(report) for report in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []


def replace_verdicts(reports: Sequence[Report], path: Path = VERDICTS) -> list[Report]:
    """Puts reports in the place of those of the same clients in a file of verdicts, and returns all that are there then."""
    by_client = {report.client: report for report in (*read_verdicts(path), *reports)}
    clients = [client for group in GROUPS.values() for client in group]
    kept = [by_client[client] for client in clients if client in by_client]
    data = [report.as_json() for report in kept]
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return kept


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "?"
    return found
