"""Writes the leaderboards between scripted policies that the pages of the games show, and the picture of one of them.

``python docs/build_ladders.py --runs runs/ladders`` plays the run files of the four papers, some two minutes on two cores, or
takes the runs that are in the directory already. It writes ``docs/site_builder/ladders.json`` and
``docs/pictures/leaderboard.svg``.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rating.schemes.leaderboard import Leaderboard
from rating.viewer.report.tables import sheet
from rating.viewer.source import open_source, tables_of
from site_builder import leaderboard
from site_builder.games import LADDERS

PICTURE = Path(__file__).parent / "pictures" / "leaderboard.svg"
PAPERS = ("llmarena", "deepeval", "auto_arena", "simulbench")


def leaderboards(run: Path) -> list[Leaderboard]:
    """Returns the leaderboards of a run, one an environment."""
    with open_source(run) as source:
        return [table for table in tables_of(source)[0] if isinstance(table, Leaderboard)]


def ladder(board: Leaderboard, command: str) -> dict[str, Any]:
    """Returns a leaderboard as the page of its game takes it.

    Args:
        board: the leaderboard.
        command: that played it.
    """
    shown = sheet(board)
    return {
        "environment": board.environment.partition("#")[0],
        "title": board.environment,
        "command": command,
        "header": shown.header,
        "rows": shown.rows,
        "notes": shown.notes,
    }


def main() -> None:
    """Plays the missing ladders and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR", help="directory of the runs")
    runs = parser.parse_args().runs
    found = []
    for paper in PAPERS:
        words = ["llmarena", "run", f"{paper.replace('_', '-')}-demo", "--out"]
        if not (runs / paper).exists():
            command = [sys.executable, "-m", "rating.cli", *words[1:], str(runs / paper), "--quiet"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for board in leaderboards(runs / paper):
            found.append(ladder(board, " ".join([*words, f"runs/{paper}"])))
            if board.environment == "connect_four_v0":
                picture = leaderboard.picture(board, "Connect four between scripted policies")
                PICTURE.write_text(picture, encoding="utf-8", newline="\n")
    LADDERS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
