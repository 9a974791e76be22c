"""The executor that plays matches in a Ray cluster.

A separate process drives Ray. Its handling of signals and standard output, and its end after the loss of the cluster, do not
affect the run.
"""

import asyncio
import contextlib
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from agents.records import Turn
from llmarena_envs.core.options import OptionError
from rating.config.run_file import RunConfig
from rating.errors import ClusterError
from rating.play.executors.executor import OnTurn, Played, Slots, play_despite_death
from rating.play.executors.process import end_with_parent, ending, interruptions_blocked
from rating.play.executors.ray_messages import Failed, GiveUp, Here, Room, Said, Task
from rating.store.records import Match

CONNECTING = 60.0
"""Seconds Ray has to start on this machine, or to connect."""

_GOODBYE = 10.0
"""Seconds Ray has to end its workers after the last match; then the driver process ends."""

_LOG = 1_000_000
"""Maximum bytes of Ray's output that are read."""

_LAST_WORDS = 250
"""Maximum characters shown of the last line of Ray's output."""


def check_executor(name: str) -> None:
    """Checks that an executor is available, before anything is made or changed.

    Args:
        name: value of ``--executor``.

    Raises:
        OptionError: if it is ``ray`` and Ray is not installed.
    """
    if name == "ray" and find_spec("ray") is None:
        raise OptionError(
            "the executor ray needs 'ray', which is not installed: pip install 'llmarena-envs[ray]'; or choose another one"
            " with --executor"
        )


class RayExecutor:
    """Plays matches in the workers of a Ray cluster, one at a time in each.

    The cluster is the one at ``RAY_ADDRESS``, else one that runs on this machine, else one started for this run. The run connects
    when the first match needs it. It has at most the configured number of workers, fewer if the cluster has no room. A worker is
    replaced if it or its machine dies. The one slot is widened to the number of ready workers.
    """

    def __init__(self, config: RunConfig, slots: Slots) -> None:
        self._config = config
        self.slots = slots
        self._start: asyncio.Task[_Driver] | None = None

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match in an idle worker; resumes it in another one if that worker dies.

        Raises:
            OptionError: if Ray is not installed.
            ClusterError: if no cluster can play it.
        """
        if self._start is None:
            self._start = asyncio.create_task(_Driver.start(self._config, self.slots))
        driver = await asyncio.shield(self._start)
        return await play_despite_death(driver.play, match, played, on_turn)

    async def close(self) -> None:
        """Ends the workers, and the cluster if it was started for this run."""
        if self._start is not None:
            self._start.cancel()
            with contextlib.suppress(asyncio.CancelledError, ClusterError, OptionError):
                await (await self._start).close()


class _Driver:
    """Handle of the process that drives Ray; widens the slots when workers are ready."""

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
            ClusterError: if it cannot connect.
        """
        check_executor("ray")
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
            ClusterError: if the cluster was lost.
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
        """Ends the driver process, in good order if it is connected to a cluster."""
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
        with contextlib.suppress(OSError):  # it has ended, which the listener reports
            self._pipe.send(message)

    def _listen(self) -> None:
        """Runs in a thread: passes on the messages of the driver, and its end."""
        with contextlib.suppress(RuntimeError):  # the loop was closed
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
                self._log_file.unlink()  # stays open; deleted now, in case this process is killed
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
        """Returns the last line of Ray's output after a colon, or an empty string."""
        lines = os.pread(self._log, _LOG, 0).decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:_LAST_WORDS]}" if lines else ""


def _address() -> str:
    address = os.environ.get("RAY_ADDRESS", "")
    return f"at {address} (RAY_ADDRESS)" if address else "on this machine (RAY_ADDRESS names no other)"


def _drive(pipe: "Connection[Any, Any]", config: RunConfig, here: Here, log: str) -> None:
    """Runs in the driver process, in its own session: signals to the run do not reach it, and it ends with its pipe."""
    os.setsid()
    with Path(log).open("ab") as file:  # Ray and its processes write to the descriptors directly
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    # Ray ends its own processes here; if the driver is killed, they linger for a minute.
    threading.Thread(target=end_with_parent, args=(_GOODBYE,), daemon=True).start()
    from rating.play.executors.ray_driver import drive  # imports Ray

    drive(pipe, config, here)
