"""Finished runs for tests."""

import asyncio
import io
import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from rating.play import run_directory
from rating.play.run import Run
from rating.play.runner import Runner
from rating.play.session import ONE_GO, Session
from rating.schemes.leaderboard import Leaderboard
from rating.store.export import write_jsonl
from rating.store.records import Record
from rating.store.state import RunState


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


def asked(names: Iterable[str], spec: str = "tests.rating.players:Asked") -> str:
    """Returns the tables of policies that count how often they are asked, or fail."""
    return "".join(f'[[policy]]\nname = "{name}"\nspec = "{spec}"\noptions = {{ name = "{name}" }}\n' for name in names)


def play_run(directory: Path, text: str) -> Path:
    """Plays a run to its end and returns its directory."""
    run, store = run_directory.create(directory, text, "run.toml")
    with closing(store):
        asyncio.run(Runner(run, store).run())
    return directory


class Played(NamedTuple):
    """A run after a session, and the number of its void matches."""

    run: Run
    void: int
    records: list[Record]
    facts: Mapping[str, str]

    def board(self, environment: str = "tictactoe_v0") -> Leaderboard:
        """Returns the leaderboard of an environment."""
        outcomes = [record.outcome for record in self.records if record.outcome]
        return self.run.leaderboard(environment, outcomes, RunState(self.facts))


def begin(directory: Path, text: str) -> Played:
    """Creates a run, and plays it."""
    run_directory.create(directory, text, "run.toml")[1].close()
    return go_on(directory)


def go_on(directory: Path, text: str | None = None, session: Session = ONE_GO) -> Played:
    """Resumes a run, with another run file if there is one."""
    if text is not None:
        (directory / run_directory.RUN_FILE).write_text(text)
    run, store = run_directory.reopen_run(directory)
    with closing(store):
        void = asyncio.run(Runner(run, store, session).run())
        return Played(run, void, list(store.records()), store.facts())


def records_of(directory: Path) -> list[Record]:
    """Returns the records of a run."""
    with closing(run_directory.open_store(directory)) as store:
        return list(store.records())


def left_by(directory: Path) -> tuple[str, str]:
    """Returns everything recorded of the matches of a run but wall times, and its play digest."""
    with closing(run_directory.open_store(directory)) as store:
        return log_of(store.records()), store.digest()


def log_of(records: Iterable[Record]) -> str:
    """Returns everything recorded of matches but wall times."""
    text = io.StringIO()
    write_jsonl(records, text)
    return re.sub(r'"seconds": [^,}]+', "", text.getvalue())
