"""Live state of the board: computed on demand, shared by all viewers, at most about 10 % of the time."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from starlette.concurrency import run_in_threadpool

from llmarena_envs.core.errors import ArenaError
from llmarena_envs.core.terminal import printable
from rating.viewer.web.tables import Tables
from rating.viewer.web.watched import Moment, Watched

T = TypeVar("T")

_LEAST_PAUSE = 1.0
"""Minimum seconds between two computations."""

_REST = 20
"""Pause after a computation, as a multiple of its CPU time: two computations then take at most 10 % of the time.

The first computation reads the whole record and is exempt.
"""

_PATIENCE = 1.0
"""Seconds a page waits for a computation before it shows the previous result."""


@dataclass(frozen=True)
class View:
    """Contents of the board.

    Attributes:
        version: changes with the contents.
        moment: recorded matches.
        tables: ratings and costs, possibly of an earlier moment.
        trouble: error message if the run cannot be read, or an empty string.
    """

    version: str
    moment: Moment
    tables: Tables
    trouble: str = ""


class Paced(Generic[T]):
    """Computes a value in a thread on demand, rate-limited and shared by concurrent callers.

    Args:
        compute: computes the value; must not raise.
        clock: returns seconds.
        effort: returns CPU seconds of the current thread.
    """

    def __init__(
        self,
        compute: Callable[[], T],
        clock: Callable[[], float] = time.monotonic,
        effort: Callable[[], float] = time.thread_time,
    ) -> None:
        self._compute = compute
        self._clock = clock
        self._effort = effort
        self._latest: list[T] = []
        self._task: asyncio.Task[None] | None = None
        self._due = clock()

    async def get(self) -> T:
        """Returns the latest value, and starts a new computation if one is due."""
        if self._task is None and self._clock() >= self._due:
            self._task = asyncio.create_task(self._run())
        while self._task is not None:
            await asyncio.wait({self._task}, timeout=_PATIENCE)
            if self._latest:
                break
        return self._latest[0]

    async def _run(self) -> None:
        is_first, effort = not self._latest, 0.0
        try:
            computed, effort = await run_in_threadpool(self._measured)
            self._latest = [computed]
        finally:
            self._due = self._clock() + max(_LEAST_PAUSE, 0.0 if is_first else _REST * effort)
            self._task = None

    def _measured(self) -> tuple[T, float]:
        """Returns the value and the CPU seconds it took."""
        begin = self._effort()
        return self._compute(), self._effort() - begin


class Live:
    """Live contents of the board for a directory.

    Args:
        watched: run.
    """

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._moments = Paced(self._read)
        self._tables = Paced(self._make)
        self._read_last = _Read(Moment())
        self._made_last = _Made(Tables())
        self._made_of: Moment | None = None
        self._shown: tuple[_Read, _Made] = (self._read_last, self._made_last)
        # Random start: a page opened before a server restart sees a new version.
        self._version = secrets.randbits(48)

    async def moment(self) -> tuple[Moment, str]:
        """Returns the matches, and an error message if they cannot be read or an empty string."""
        return await self._moments.get()

    async def view(self) -> View:
        """Returns the contents of the board."""
        read = await self._moments.get()
        made = _UNMADE if read.trouble else await self._tables.get()
        if read is not self._shown[0] or made is not self._shown[1]:
            self._shown = read, made
            self._version += 1
        return View(str(self._version), read.moment, made.tables, read.trouble or made.trouble)

    async def changed(self, version: str) -> str:
        """Waits until the version of the board changes, and returns the new one."""
        while (latest := (await self.view()).version) == version:
            await asyncio.sleep(_LEAST_PAUSE)
        return latest

    def _read(self) -> "_Read":
        """Reads the matches. Without changes, returns the same object as before."""
        last = self._read_last
        try:
            read = _Read(twice(self._watched.moment))
        except Exception as error:  # missing file, missing or custom environment: possibly temporary
            read = _Read(Moment(), explain(error))
        if read.trouble != last.trouble or (not read.trouble and read.moment is not last.moment):
            self._read_last = read
        return self._read_last

    def _make(self) -> "_Made":
        """Makes the tables. Without changes, returns the same object as before."""
        moment = self._read_last.moment
        if moment is not self._made_of:
            try:
                self._made_last = _Made(twice(lambda: self._watched.tables(moment)))
            except Exception as error:  # as in _read
                self._made_last = _Made(Tables(), explain(error))
            self._made_of = moment
        return self._made_last


class _Read(NamedTuple):
    moment: Moment
    trouble: str = ""


class _Made(NamedTuple):
    tables: Tables
    trouble: str = ""


_UNMADE = _Made(Tables())


def twice(read: Callable[[], T]) -> T:
    """Calls a read function, and once more if it fails: the run can start or end during the first read."""
    try:
        return read()
    except Exception:
        return read()


def explain(error: Exception) -> str:
    """Returns an error message for the page."""
    return printable(str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}")
