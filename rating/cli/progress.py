"""Progress display of a run, on standard error."""

import asyncio
import logging
import math
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from llmarena_envs.core.terminal import printable
from rating.cli.progress_views import Pace, draw_table, stop_line, write_line
from rating.play.attempts import ENVIRONMENT
from rating.play.progress import Progress

T = TypeVar("T")

_TICK = 0.5
"""Seconds between two updates."""

_LINE_EVERY = 30.0
"""Seconds between two progress lines without a terminal."""

_SECONDS_BETWEEN_FAILURES = 15.0
"""Minimum seconds between two lines about failures of one kind. A server that is down causes thousands."""

_LONGEST_FAILURE = 300
"""Maximum characters shown of a failure; the record of the match has the full text."""

_FAILURE_LOGS = ("agents", "rating")
"""Loggers that report retries and failed matches."""


class ProgressDisplay:
    """Shows a live table on a terminal, periodic lines otherwise, and failures as they happen.

    Args:
        person: whether a person plays at the terminal. If so, shows only failures and the end of each environment, to keep
            the typed input intact.
        quiet: whether to show only errors.
        clock: returns seconds.
    """

    def __init__(
        self, *, person: bool = False, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._quiet = quiet
        self._tells = not person and not quiet
        self._clock = clock
        self._console = Console(stderr=True)
        self._live = (
            Live(console=self._console, auto_refresh=False, vertical_overflow="crop")
            if self._tells and sys.stderr.isatty()
            else None
        )
        self._failures = FailureLines(self._say, clock, level=logging.ERROR if quiet else logging.INFO)
        self._pace = Pace(clock)
        self._next_line = clock() + _LINE_EVERY
        self._told: set[str] = set()

    async def watch(self, run: Callable[[], Awaitable[T]], progress: Callable[[], Progress]) -> T:
        """Awaits a run while showing its progress, and returns its result.

        Args:
            run: plays the run.
            progress: returns the current progress.
        """
        with self._shown():
            ticking = asyncio.create_task(self._tick(progress))
            try:
                return await run()
            finally:
                ticking.cancel()
                self.show(progress())

    def show(self, progress: Progress) -> None:
        """Shows the progress of a run, if an update is due."""
        self._pace.add(progress)
        for item in progress.environments:
            if item.stopped and item.name not in self._told:
                self._told.add(item.name)
                if not self._quiet and self._live is None:
                    self._say(stop_line(item))
        if self._live is not None:
            self._live.update(draw_table(progress, self._pace), refresh=True)
        elif self._tells and self._clock() >= self._next_line:
            self._next_line = self._clock() + _LINE_EVERY
            self._say(write_line(progress, self._pace))

    async def _tick(self, progress: Callable[[], Progress]) -> None:
        while True:
            self.show(progress())
            await asyncio.sleep(_TICK)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        if self._live is not None:
            self._live.start()
        for name in _FAILURE_LOGS:
            logging.getLogger(name).addHandler(self._failures)
            logging.getLogger(name).setLevel(logging.INFO)
        try:
            yield
        finally:
            for name in _FAILURE_LOGS:
                logging.getLogger(name).removeHandler(self._failures)
                logging.getLogger(name).setLevel(logging.NOTSET)
            if self._live is not None:
                self._live.stop()

    def _say(self, line: str) -> None:
        if self._live is not None:
            self._console.print(Text(line))
        else:
            print(line, file=sys.stderr, flush=True)


class FailureLines(logging.Handler):
    """Logging handler that shows failures, rate-limited by kind. Errors are always shown.

    Failures with the same message template are of one kind, which keeps rare failures visible among frequent ones.

    Args:
        say: prints a line.
        clock: returns seconds.
        level: lowest level shown.
    """

    def __init__(
        self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic, level: int = logging.INFO
    ) -> None:
        super().__init__(level)
        self._say = say
        self._clock = clock
        self._next: dict[str, float] = {}
        self._kept_back: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Shows a failure with its environment, or counts it."""
        now, kind = self._clock(), str(record.msg)
        if now < self._next.get(kind, -math.inf) and record.levelno < logging.ERROR:
            self._kept_back[kind] += 1
            return
        self._next[kind] = now + _SECONDS_BETWEEN_FAILURES
        environment = ENVIRONMENT.get()
        text = printable(" ".join(record.getMessage().split()))[:_LONGEST_FAILURE]
        kept_back = self._kept_back.pop(kind, 0)
        more = f" ({kept_back} more of this kind since the line before)" if kept_back else ""
        self._say(f"{environment}: {text}{more}" if environment else f"{text}{more}")
