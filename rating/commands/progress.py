"""The progress display of a running tournament, on standard error."""

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
from rating.commands.progress_views import Pace, draw_table, stop_line, write_line
from rating.running.progress import Progress
from rating.running.runner import ENVIRONMENT

T = TypeVar("T")

_TICK = 0.5
"""Seconds between two looks at the run."""

_LINE_EVERY = 30.0
"""Seconds between two lines where there is no terminal."""

_SECONDS_BETWEEN_FAILURES = 15.0
"""Between two lines about failures, of which a server that is down gives thousands."""

_LONGEST_FAILURE = 300
"""Characters shown of a failure; the record of the match has all of it."""

_FAILURE_LOGS = ("agents", "rating")
"""Loggers to which retries and failed matches are reported."""


class ProgressDisplay:
    """A live table on a terminal, a line now and then where there is none, and failures as they come.

    Args:
        person: whether a person plays at the terminal: then nothing is drawn over what is typed, and only failures and the end of
            each environment are told.
        quiet: whether nothing is told but what goes wrong for good.
        clock: seconds.
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
        """Runs a run, shows meanwhile how far it is, and returns what it returns.

        Args:
            run: runs it.
            progress: says how far it is.
        """
        with self._shown():
            ticking = asyncio.create_task(self._tick(progress))
            try:
                return await run()
            finally:
                ticking.cancel()
                self.show(progress())

    def show(self, progress: Progress) -> None:
        """Shows how far a run is, if it is time to."""
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
    """Shows failures as they come, the first one of each kind at once, but only one now and then; what is an error always.

    Of one kind are those with the same message but for its values: that a server is out is not lost among failed attempts.

    Args:
        say: prints a line.
        clock: seconds.
        level: of the least that is shown.
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
