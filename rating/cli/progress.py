"""Progress display of a run, on standard error."""

import asyncio
import logging
import math
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from rich.console import Console, RenderableType
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from llmarena_envs.core.terminal import printable
from rating.play.attempts import MATCH
from rating.play.runner import EnvironmentProgress, Progress
from rating.schemes.stopping import PAUSED
from rating.store.calls import Usage
from rating.viewer.report.tables import MANY

T = TypeVar("T")

_TICK = 0.5
"""Seconds between two updates."""

_LINE_EVERY = 60.0
"""Seconds between two progress lines without a terminal."""

_SPEED_OVER = 600.0
"""Seconds over which the speed of a game is averaged."""

_SECONDS_BETWEEN_FAILURES = 15.0
"""Minimum seconds between two lines about failures of one kind. A server that is down causes thousands."""

_LONGEST_FAILURE = 300
"""Maximum characters shown of a failure; the record of the match has the full text."""

_FAILURE_LOGS = ("agents", "rating")
"""Loggers that report retries and failed matches."""


class ProgressDisplay:
    """Shows a bar per game on a terminal, a line per minute otherwise, and failures as they happen.

    Args:
        person: whether a person plays at the terminal. If so, shows only failures and the end of each game, to keep the typed
            input intact.
        quiet: whether to show only errors.
        clock: returns seconds.
    """

    def __init__(
        self, *, person: bool = False, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._has_bars = sys.stderr.isatty() and not person and not quiet
        self._has_lines = not (self._has_bars or person or quiet)
        self._has_ends = not (self._has_bars or quiet)
        self._failures = FailureLines(self._print, clock, level=logging.ERROR if quiet else logging.INFO)
        self._bars = GameBars(Console(stderr=True), clock)
        self._next_line = clock() + _LINE_EVERY
        self._ended: set[str] = set()

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
        self._bars.show(progress)
        for game in progress.environments:
            if game.stopped and game.name not in self._ended:
                self._ended.add(game.name)
                if self._has_ends:
                    self._print(printable(f"{game.name}: {_matches(game)} matches, {_state(game)}"))
        if self._has_bars:
            self._bars.refresh()
        elif self._has_lines and self._clock() >= self._next_line:
            self._next_line = self._clock() + _LINE_EVERY
            self._print(self._bars.line(progress))

    async def _tick(self, progress: Callable[[], Progress]) -> None:
        while True:
            self.show(progress())
            await asyncio.sleep(_TICK)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        if self._has_bars:
            self._bars.start()
        for name in _FAILURE_LOGS:
            logging.getLogger(name).addHandler(self._failures)
            logging.getLogger(name).setLevel(logging.INFO)
        try:
            yield
        finally:
            for name in _FAILURE_LOGS:
                logging.getLogger(name).removeHandler(self._failures)
                logging.getLogger(name).setLevel(logging.NOTSET)
            if self._has_bars:
                self._bars.stop()

    def _print(self, line: str) -> None:
        if self._has_bars:
            self._bars.console.print(Text(line))
        else:
            print(line, file=sys.stderr, flush=True)


class GameBars(Bars):
    """A bar per game, with a line on the calls of the whole run below them.

    Args:
        console: console to draw on.
        clock: returns seconds.
    """

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._games: dict[str, TaskID] = {}
        self._calls = ""
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[matches]}", markup=False),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}", markup=False),
        )
        super().__init__(
            *columns, console=console, auto_refresh=False, speed_estimate_period=_SPEED_OVER, get_time=clock
        )

    def show(self, progress: Progress) -> None:
        """Updates the bars."""
        for game in progress.environments:
            over = game.finished + game.void
            if game.name not in self._games:
                name = printable(" ".join(game.name.split()))
                self._games[game.name] = self.add_task(name, total=None, completed=over, matches="", rate="", state="")
            number = self._games[game.name]
            own = [usage for (environment, _), usage in progress.usage.items() if environment == game.name]
            self.update(
                number,
                completed=over,
                total=over if game.stopped else game.expected,
                matches=_matches(game),
                state=printable(_state(game, Usage.sum(own))),
            )
            speed = self._tasks[number].speed
            self.update(number, rate="" if speed is None else f"{60 * speed:,.1f} a minute")
        self._calls = printable(" ".join(_calls(progress).split()))

    def line(self, progress: Progress) -> str:
        """Returns the progress of a run in one line."""
        games = [game for game in progress.environments if not game.stopped]
        shown = games if len(games) <= MANY else [game for game in games if game.finished]
        matches = [f"{game.name} {_matches(game)}" for game in shown]
        matches += [f"{len(games) - len(shown)} other games"] if len(shown) < len(games) else []
        left = [task.time_remaining for task in self.tasks]
        parts = [f"matches: {', '.join(matches) or 'all played'}", _calls(progress)]
        if left and None not in left:
            parts.append(f"time left: {timedelta(seconds=max(seconds or 0 for seconds in left))}")
        return printable("; ".join(part for part in parts if part))

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yields the bars and the line below them."""
        yield from super().get_renderables()
        if self._calls:
            yield Text(self._calls, overflow="ellipsis", no_wrap=True)


@contextmanager
def progress_line(what: str, unit: str = "matches") -> Iterator[Callable[[int, int], None]]:
    """Shows a line with a bar on a terminal during some work.

    Args:
        what: name of the work.
        unit: name of the counted units.

    Yields:
        A function that takes the numbers of units done and of all units.
    """
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[done]}"))
    with Bars(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        number = bars.add_task(what, total=None, done="")
        yield lambda done, total: bars.update(number, completed=done, total=total, done=f"{done:,} of {total:,} {unit}")


class FailureLines(logging.Handler):
    """Logging handler that shows failures, rate-limited by kind. Errors are always shown.

    Failures with the same message template are of one kind, which keeps rare failures visible among frequent ones.

    Args:
        show: prints a line.
        clock: returns seconds.
        level: lowest level shown.
    """

    def __init__(
        self, show: Callable[[str], None], clock: Callable[[], float] = time.monotonic, level: int = logging.INFO
    ) -> None:
        super().__init__(level)
        self._show = show
        self._clock = clock
        self._next: dict[str, float] = {}
        self._hidden: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Shows a failure with its environment, or counts it."""
        now, kind = self._clock(), str(record.msg)
        if now < self._next.get(kind, -math.inf) and record.levelno < logging.ERROR:
            self._hidden[kind] += 1
            return
        self._next[kind] = now + _SECONDS_BETWEEN_FAILURES
        match = MATCH.get()
        text = printable(" ".join(record.getMessage().split()))[:_LONGEST_FAILURE]
        hidden = self._hidden.pop(kind, 0)
        more = f" ({hidden} more like this since the last one)" if hidden else ""
        self._show(f"{match.environment}: {text}{more}" if match else f"{text}{more}")


def _matches(game: EnvironmentProgress) -> str:
    if game.expected is not None:
        return f"{game.finished:,} of {game.expected:,}"
    return f"{game.finished:,} of {game.scheduled:,}" + ("" if game.stopped else "+")


def _state(game: EnvironmentProgress, usage: Usage | None = None) -> str:
    """Returns why a game has stopped, its void matches, and its failed calls and cost."""
    parts = []
    if game.stopped:
        parts.append(PAUSED if game.stopped == PAUSED else f"stopped: {game.stopped}")
    if game.void:
        parts.append(f"{game.void:,} void")
    if usage is not None and usage.calls:
        if usage.failed:
            parts.append(f"{usage.failed:,} failed calls")
        parts.append(f"cost {_cost(usage)}")
    return ", ".join(parts)


def _calls(progress: Progress) -> str:
    """Returns calls, usage and failures of the whole run; empty without calls."""
    total = Usage.sum(progress.usage.values())
    parts = []
    if total.calls or progress.in_flight:
        limit = "" if progress.limit is None else f" of {progress.limit:,}"
        parts.append(f"{total.calls:,} calls, {progress.in_flight:,}{limit} in flight")
    if total.calls:
        parts.append(f"tokens: {_tokens(total.prompt_tokens, total)} in, {_tokens(total.completion_tokens, total)} out")
        parts.append(f"cost {_cost(total)}" + (f" of {progress.budget:g}" if progress.budget is not None else ""))
    if total.errors:
        kinds = sorted(total.errors.items(), key=lambda item: (-item[1], item[0]))
        parts.append(f"failed calls: {', '.join(f'{count:,} {kind}' for kind, count in kinds)}")
    if progress.errors:
        parts.append(f"{progress.errors:,} errors of providers or environments")
    if progress.deaths:
        parts.append(f"{progress.deaths:,} workers died")
    if progress.suspended:
        parts.append(f"suspended: {', '.join(f'{name} ({why})' for name, why in progress.suspended.items())}")
    return "; ".join(parts)


def _tokens(tokens: int, usage: Usage) -> str:
    """Returns a number of tokens, with a plus if some usage is unknown."""
    return f"{tokens:,}{'+' if usage.unknown else ''}"


def _cost(usage: Usage) -> str:
    """Returns a cost, with a plus if it is incomplete, or a question mark without any price."""
    if usage.unpriced and not usage.cost:
        return "?"
    return f"{usage.cost:.2f}" + ("+" if usage.unpriced or usage.unknown else "")
