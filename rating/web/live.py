"""What everybody sees who watches: computed once for all, only while somebody looks, and for a tenth of the time at most."""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from starlette.concurrency import run_in_threadpool

from llmarena_envs.core.errors import ArenaError
from llmarena_envs.core.terminal import printable
from rating.web.tables import Tables
from rating.web.watched import Moment, Watched

T = TypeVar("T")

_LEAST_PAUSE = 1.0
"""Seconds between two computations."""

_REST = 20
"""Times as long as a computation kept a processor busy nothing is computed after it, the first one excepted, which reads what
was recorded before: two of them together take a tenth of the time."""

_PATIENCE = 1.0
"""Seconds for which a page waits for what is being computed anew; then it shows what there is."""


@dataclass(frozen=True)
class View:
    """What is shown.

    Attributes:
        version: another one for everything new.
        moment: the matches.
        tables: ratings and costs, which may be of an earlier moment.
        trouble: why there is something that cannot be read, or an empty string.
    """

    version: str
    moment: Moment
    tables: Tables
    trouble: str = ""


class Paced(Generic[T]):
    """Computes something in a thread when it is asked for, for all who ask at once, and not too often.

    Args:
        compute: computes it; it raises nothing.
        clock: seconds.
        effort: seconds for which the thread that asks kept a processor busy.
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
        """Returns what was computed last; something new as soon as that may be computed."""
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
        """Computes it, and measures the effort."""
        begin = self._effort()
        return self._compute(), self._effort() - begin


class Live:
    """What is shown of a directory.

    Args:
        watched: the directory.
    """

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._moments = Paced(self._read)
        self._tables = Paced(self._make)
        self._read_last = _Read(Moment())
        self._made_last = _Made(Tables())
        self._made_of: Moment | None = None
        self._shown: tuple[_Read, _Made] = (self._read_last, self._made_last)
        # A page that was open when the server was started anew finds another version.
        self._version = secrets.randbits(48)

    async def moment(self) -> tuple[Moment, str]:
        """Returns the matches, and why they cannot be read or an empty string."""
        return await self._moments.get()

    @property
    def match_costs(self) -> Mapping[str, str]:
        """The cost of each match by its id, as far as it was computed."""
        return self._made_last.tables.match_costs

    async def view(self) -> View:
        """Returns everything that the board shows."""
        read = await self._moments.get()
        made = _UNMADE if read.trouble else await self._tables.get()
        if read is not self._shown[0] or made is not self._shown[1]:
            self._shown = read, made
            self._version += 1
        return View(str(self._version), read.moment, made.tables, read.trouble or made.trouble)

    async def changed(self, version: str) -> str:
        """Waits until the board has another version, and returns it."""
        while (latest := (await self.view()).version) == version:
            await asyncio.sleep(_LEAST_PAUSE)
        return latest

    async def match_changed(self, version_of: Callable[[Moment, str], str], version: str) -> str:
        """Waits until a match has another version, and returns it; ``version_of`` finds it among what ``moment`` returns."""
        while (latest := version_of(*await self._moments.get())) == version:
            await asyncio.sleep(_LEAST_PAUSE)
        return latest

    def _read(self) -> "_Read":
        """Reads the matches; the same object as before if nothing has changed."""
        last = self._read_last
        try:
            read = _Read(twice(self._watched.moment))
        except Exception as error:  # of a file or an environment that may be gone, or somebody's own: it may come back
            read = _Read(Moment(), explain(error))
        if read.trouble != last.trouble or (not read.trouble and read.moment is not last.moment):
            self._read_last = read
        return self._read_last

    def _make(self) -> "_Made":
        """Makes the tables; the same object as before if nothing has changed."""
        moment = self._read_last.moment
        if moment is not self._made_of:
            try:
                self._made_last = _Made(twice(lambda: self._watched.tables(moment)))
            except Exception as error:  # likewise
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
    """Reads again what could not be read: somebody may have begun or ended the run in that very moment."""
    try:
        return read()
    except Exception:
        return read()


def explain(error: Exception) -> str:
    """Says what went wrong to those who look."""
    return printable(str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}")
