"""Writes the leaderboards between scripted policies that the pages of the games show: ``docs/site_builder/ladders.json``.

``python docs/build_ladders.py --runs runs/ladders`` plays the run files of the four papers, some two minutes on two cores, or takes
the runs that are in the directory already.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rating.imports.source import open_source
from rating.report.tables import sheet
from rating.schemes.leaderboard import Leaderboard
from site_builder.games import LADDERS

PAPERS = ("llmarena", "deepeval", "auto_arena", "simulbench")


def ladders(run: Path, command: str) -> list[dict[str, Any]]:
    """Returns the leaderboards of a run, as the pages of the games take them.

    Args:
        run: directory of the run.
        command: that played it.
    """
    with open_source(run) as source:
        sheets = [(table.environment, sheet(table)) for table in source.tables() if isinstance(table, Leaderboard)]
    return [
        {
            "environment": label.partition("#")[0],
            "title": label,
            "command": command,
            "header": shown.header,
            "rows": shown.rows,
            "notes": shown.notes,
        }
        for label, shown in sheets
    ]


def main() -> None:
    """Plays what has not been played and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR", help="directory of the runs")
    runs = parser.parse_args().runs
    found = []
    for paper in PAPERS:
        words = ["llmarena", "run", f"benchmarks/{paper}/demo.toml", "--out"]
        if not (runs / paper).exists():
            command = [sys.executable, "-m", "rating.cli", *words[1:], str(runs / paper), "--quiet"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found += ladders(runs / paper, " ".join([*words, f"runs/{paper}"]))
    LADDERS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
