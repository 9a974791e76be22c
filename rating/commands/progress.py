"""The progress display of a running tournament, on standard error."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from rating.running.runner import Progress as RunProgress

_LINE_EVERY = 100
"""Finished matches between two lines where there is no terminal."""


class ProgressDisplay:
    """A bar for each environment on a terminal; a line now and then where there is none.

    Args:
        environments: names of the environments.
    """

    def __init__(self, environments: list[str]) -> None:
        self._live = sys.stderr.isatty()
        self._progress = Progress(
            TextColumn("{task.description:22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            disable=not self._live,
        )
        self._next_line = dict.fromkeys(environments, _LINE_EVERY)
        self._tasks: dict[str, TaskID] = {
            name: self._progress.add_task(name, total=None, note="") for name in environments
        }

    def __enter__(self) -> "ProgressDisplay":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, progress: RunProgress) -> None:
        """Shows how far a run is."""
        note = f"stopped: {progress.stopped}" if progress.stopped else ""
        if progress.errors:
            note += f" {progress.errors} failures of providers or environments"
        if self._live:
            task = self._tasks[progress.environment]
            self._progress.update(task, completed=progress.finished, total=progress.scheduled, note=note.strip())
        elif progress.stopped or progress.finished >= self._next_line[progress.environment]:
            self._next_line[progress.environment] = (progress.finished // _LINE_EVERY + 1) * _LINE_EVERY
            print(
                f"{progress.environment}: {progress.finished} of {progress.scheduled} matches {note}".rstrip(),
                file=sys.stderr,
            )
