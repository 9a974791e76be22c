"""Calls that a run has logged."""

from contextlib import closing
from pathlib import Path

from rating.play import run_directory
from rating.store.calls import LoggedCall


def logged_calls(directory: Path) -> list[LoggedCall]:
    """Returns the ended calls of a run, in order of completion."""
    with closing(run_directory.open_store(directory, read_only=True)) as store:
        return list(store.calls())
