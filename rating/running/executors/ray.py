"""Matches that are played in a Ray cluster.

Ray is driven by a process of its own, so that neither what it makes of signals and of standard output nor its end, where it loses
its cluster, is that of the run.
"""

import asyncio
import contextlib
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from agents.records import Turn
from llmarena_envs.core.options import OptionError
from rating.errors import ClusterError
from rating.records.match import Match
from rating.running.executors.children import end_with_parent, ending, interruptions_blocked
from rating.running.executors.deaths import WorkerDied, play_despite_death
from rating.running.executors.executor import OnTurn, Played
from rating.running.run_file import RunConfig
from rating.running.slots import Slots

CONNECTING = 60.0
"""Seconds that Ray may take to start on this machine, or to be connected to."""

_GOODBYE = 10.0
"""Seconds that Ray has to end its workers when nothing is left to play; then the process that drives it ends."""

_LOG = 1_000_000
"""Bytes of what Ray says that are looked at."""

_LAST_WORDS = 250
"""Characters shown of what Ray said last."""


def check_ray() -> None:
    """Checks that Ray is installed.

    Raises:
        OptionError: if it is not.
    """
    if find_spec("ray") is None:
        raise OptionError(
            "the executor ray needs 'ray', which is not installed: pip install 'llmarena-envs[ray]'; or choose another one"
            " with --executor"
        )


@dataclass(frozen=True)
class Here:
    """Where a run was started, which its workers look like as far as they can.

    Attributes:
        directory: the working directory.
        path: where modules are looked for.
    """

    directory: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A match to be played on from its turns so far."""

    number: int
    match: Match
    played: Sequence[Turn]


@dataclass(frozen=True)
class GiveUp:
    """A task that nobody waits for any more."""

    number: int


@dataclass(frozen=True)
class Said:
    """A turn of a task, or what the task came to."""

    number: int
    what: Turn | Played | WorkerDied


@dataclass(frozen=True)
class Room:
    """How many workers the cluster has room for: none when it was just connected to."""

    workers: int


@dataclass(frozen=True)
class Failed:
    """Why nothing can be played there."""

    reason: str


class RayExecutor:
    """Plays matches in the workers of a Ray cluster, one at a time in each.

    The cluster is the one that ``RAY_ADDRESS`` names, else one that was started on this machine, else one that is started for
    this run. It is connected to when it is first needed, and has as many workers as the run asks for and as it has room for. One
    that dies, or whose machine does, is replaced.

    Args:
        config: the run.
        slots: one; there are as many as workers as soon as these are there.
    """

    def __init__(self, config: RunConfig, slots: Slots) -> None:
        self._config = config
        self.slots = slots
        self._start: asyncio.Task[_Driver] | None = None

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match in an idle worker, and on in another one if that one dies.

        Raises:
            OptionError: if Ray is not installed.
            ClusterError: if there is no cluster in which it can be played.
        """
        if self._start is None:
            self._start = asyncio.create_task(_Driver.start(self._config, self.slots))
        driver = await asyncio.shield(self._start)
        return await play_despite_death(driver.play, match, played, on_turn)

    async def close(self) -> None:
        """Ends the workers, and a cluster that was started for this run."""
        if self._start is not None:
            self._start.cancel()
            with contextlib.suppress(asyncio.CancelledError, ClusterError, OptionError):
                await (await self._start).close()


class _Driver:
    """The process that drives Ray, as this one sees it.

    Args:
        config: the run.
        slots: widened as workers are there.
    """

    def __init__(self, config: RunConfig, slots: Slots) -> None:
        self._slots = slots
        self._loop = asyncio.get_running_loop()
        self._connected: asyncio.Future[None] = self._loop.create_future()
        self._tasks: dict[int, asyncio.Queue[Turn | Played | Exception]] = {}
        self._numbers = count()
        self._error: Exception | None = None
        self._log, name = tempfile.mkstemp(prefix="llmarena-ray-", suffix=".log")
        self._log_file = Path(name)
        self._pipe, theirs = (context := multiprocessing.get_context("spawn")).Pipe()
        here = Here(str(Path.cwd()), tuple(sys.path))
        self._process = context.Process(target=_drive, args=(theirs, config, here, name), daemon=True)
        with interruptions_blocked():
            self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, name="ray-driver", daemon=True).start()

    @classmethod
    async def start(cls, config: RunConfig, slots: Slots) -> "_Driver":
        """Returns a driver that is connected to a cluster.

        Raises:
            OptionError: if Ray is not installed.
            ClusterError: if it does not come to that.
        """
        check_ray()
        driver = cls(config, slots)
        try:
            async with asyncio.timeout(CONNECTING):
                await driver._connected
        except TimeoutError:
            words = driver._last_words()
            await driver.close()
            raise ClusterError(
                f"expected a Ray cluster {_address()}, but none could be connected to within {CONNECTING:g} s{words}"
            ) from None
        except BaseException:
            await driver.close()
            raise
        return driver

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match in an idle worker.

        Raises:
            ClusterError: if there is no cluster any more.
            WorkerDied: if the worker dies.
        """
        if self._error is not None:
            raise self._error
        number = next(self._numbers)
        answers = self._tasks[number] = asyncio.Queue()
        self._send(Task(number, match, played))
        try:
            while isinstance(answer := await answers.get(), Turn):
                on_turn(answer)
        except BaseException:
            self._send(GiveUp(number))
            raise
        finally:
            del self._tasks[number]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        """Ends it, in good order where it has come to a cluster."""
        connected = self._connected.done() and not self._connected.cancelled() and self._error is None
        self._error = self._error or ClusterError("the run has ended")
        if connected:
            self._send(None)
            await asyncio.to_thread(self._process.join, _GOODBYE)
        self._process.kill()
        await asyncio.to_thread(self._process.join)
        self._log_file.unlink(missing_ok=True)
        os.close(self._log)

    def _send(self, message: Task | GiveUp | None) -> None:
        with contextlib.suppress(OSError):  # it has ended, which it says itself
            self._pipe.send(message)

    def _listen(self) -> None:
        """Runs in a thread: passes on what the driver says, and that it has ended."""
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody listens any more
            with contextlib.suppress(EOFError, OSError):
                while True:
                    self._loop.call_soon_threadsafe(self._take, self._pipe.recv())
            self._loop.call_soon_threadsafe(self._take, None)

    def _take(self, message: Said | Room | Failed | None) -> None:
        if isinstance(message, Said):
            if message.number in self._tasks:
                self._tasks[message.number].put_nowait(message.what)
        elif isinstance(message, Room):
            if not self._connected.done():
                self._connected.set_result(None)
                self._log_file.unlink()  # it has been opened: nothing is left of it even if this process is killed
            self._slots.widen(message.workers)
        elif self._error is None:
            if message is None:
                self._process.join(0.5)
                how = ending(self._process.exitcode)
                self._fail(f"the Ray cluster {_address()} was lost: what drives it {how}{self._last_words()}")
            else:
                self._fail(message.reason)

    def _fail(self, reason: str) -> None:
        self._error = ClusterError(reason)
        if not self._connected.done():
            self._connected.set_exception(self._error)
        for answers in self._tasks.values():
            answers.put_nowait(self._error)

    def _last_words(self) -> str:
        """Returns the last line of what Ray said, behind a colon."""
        lines = os.pread(self._log, _LOG, 0).decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:_LAST_WORDS]}" if lines else ""


def _address() -> str:
    address = os.environ.get("RAY_ADDRESS", "")
    return f"at {address} (RAY_ADDRESS)" if address else "on this machine (RAY_ADDRESS names no other)"


def _drive(pipe: "Connection[Any, Any]", config: RunConfig, here: Here, log: str) -> None:
    """Runs in the process that drives Ray, in a session of its own: what ends the run's other processes ends it by their pipe."""
    os.setsid()
    with Path(log).open("ab") as file:  # Ray and what it starts write to the descriptors themselves
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    # Ray ends what it started here; parts of a cluster whose driver was killed look for the others for a minute.
    threading.Thread(target=end_with_parent, args=(_GOODBYE,), daemon=True).start()
    from rating.running.executors.ray_driver import drive  # imports Ray

    drive(pipe, config, here)
