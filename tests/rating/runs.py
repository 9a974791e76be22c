"""Finished runs for tests."""

import asyncio
from contextlib import closing
from pathlib import Path

from rating.play import run_directory
from rating.play.runner import Runner


def run_file(*environments: str, policies: tuple[str, ...], seed: int = 4, stop: str = "", more: str = "") -> str:
    """Returns the text of a run file.

    Args:
        environments: names of environments, or their tables as TOML.
        policies: specs of policies, or their tables as TOML.
        seed: seed of the run.
        stop: table of the stopping rule as TOML.
        more: other settings as TOML, before the tables.
    """
    text = f"seed = {seed}\nworkers = 1\n{more}\n"
    text += f"[stop]\n{stop}\n" if stop else ""
    for table, key, items in (("environment", "name", environments), ("policy", "spec", policies)):
        for item in items:
            text += f"[[{table}]]\n{item if '=' in item else f'{key} = {item!r}'}\n"
    return text


def play_run(directory: Path, text: str) -> Path:
    """Plays a run to its end and returns its directory."""
    run, store = run_directory.create(directory, text, "run.toml")
    with closing(store):
        asyncio.run(Runner(run, store).run())
    return directory
