"""The progress display of a running tournament, on standard error."""

import logging
import math
import sys
import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from llmarena_envs.core.terminal import printable
from rating.running.runner import ENVIRONMENT
from rating.running.runner import Progress as RunProgress

_LINE_EVERY = 100
"""Finished matches between two lines where there is no terminal."""

_SECONDS_BETWEEN_FAILURES = 15.0
"""Between two lines about failures, of which a server that is down gives thousands."""

_LONGEST_FAILURE = 300
"""Characters shown of a failure; the record of the match has all of it."""

_FAILURE_LOGS = ("agents", "rating")
"""Loggers to which retries and failed matches are reported."""


class ProgressDisplay:
    """A bar for each environment on a terminal, a line now and then where there is none, and failures as they come.

    Args:
        environments: names of the environments.
        bars: whether bars are drawn on a terminal; lines are written otherwise.
    """

    def __init__(self, environments: list[str], *, bars: bool = True) -> None:
        self._live = bars and sys.stderr.isatty()
        self._progress = Progress(
            TextColumn("{task.description:22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            disable=not self._live,
        )
        self._failures = FailureLines(self._say)
        self._next_line = dict.fromkeys(environments, _LINE_EVERY)
        self._tasks: dict[str, TaskID] = {
            name: self._progress.add_task(name, total=None, note="") for name in environments
        }

    def __enter__(self) -> "ProgressDisplay":
        self._progress.start()
        for name in _FAILURE_LOGS:
            logging.getLogger(name).addHandler(self._failures)
            logging.getLogger(name).setLevel(logging.INFO)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in _FAILURE_LOGS:
            logging.getLogger(name).removeHandler(self._failures)
            logging.getLogger(name).setLevel(logging.NOTSET)
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
            self._say(f"{progress.environment}: {progress.finished} of {progress.scheduled} matches {note}".rstrip())

    def _say(self, line: str) -> None:
        if self._live:
            self._progress.console.print(Text(line))
        else:
            print(line, file=sys.stderr)


class FailureLines(logging.Handler):
    """Shows failures as they come, the first one at once, but only one now and then; what is an error always.

    Args:
        say: prints a line.
        clock: seconds.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.INFO)
        self._say = say
        self._clock = clock
        self._next = -math.inf
        self._kept_back = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Shows a failure with its environment, or counts it."""
        now = self._clock()
        if now < self._next and record.levelno < logging.ERROR:
            self._kept_back += 1
            return
        self._next = now + _SECONDS_BETWEEN_FAILURES
        environment = ENVIRONMENT.get()
        text = printable(" ".join(record.getMessage().split()))[:_LONGEST_FAILURE]
        more = f" ({self._kept_back} more since the line before)" if self._kept_back else ""
        self._kept_back = 0
        self._say(f"{environment}: {text}{more}" if environment else f"{text}{more}")
