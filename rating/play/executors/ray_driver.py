"""The process that drives Ray, and its workers in the cluster."""

import asyncio
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ray
from ray.exceptions import RayError

from agents.records import Turn
from llmarena_envs.core.options import OptionError
from rating.config.run_file import RunConfig
from rating.play import run_directory
from rating.play.executors.executor import Played, WorkerDied, play_match
from rating.play.executors.process import INTERRUPTIONS
from rating.play.executors.ray_messages import Failed, GiveUp, Here, Room, Said, Task
from rating.play.players import Players
from rating.store.records import Match

PLACING = 120.0
"""Seconds between checks for workers; without any worker the cluster counts as full."""

_REACHING = 5.0
"""Seconds the head of a cluster has to answer."""

_STILLBORN = 3
"""Failed starts per wanted worker after which the cluster is unusable, if no worker becomes ready in between."""

_WORDS = 300
"""Maximum characters shown of a Ray error."""


class _Unusable(Exception):
    """Nothing can be played in the cluster; the message gives the reason."""


class _Over(Exception):
    """Ends all in-flight work."""


def drive(pipe: "Connection[Any, Any]", config: RunConfig, here: Here) -> None:
    """Plays the matches that arrive through a pipe in a Ray cluster, until ``None`` arrives or the pipe ends."""
    try:
        _connect()
        pipe.send(Room(0))
        asyncio.run(_Cluster(pipe, config, here).serve())
    except _Unusable as error:
        pipe.send(Failed(str(error)))
    finally:
        ray.shutdown()


def _connect() -> None:
    """Connects to a cluster, or starts one.

    Raises:
        _Unusable: if that fails.
    """
    address = os.environ.get("RAY_ADDRESS", "")
    if address not in ("", "auto", "local"):
        _check_reachable(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by the processes that Ray starts here
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTIONS)  # must not be inherited: Ray ends processes by SIGTERM
    try:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # of many types: other versions of Python and Ray, a wrong token, no memory
        first = error
        while isinstance(first.__cause__, Exception):
            first = first.__cause__
        raise _Unusable(f"the Ray cluster {address or 'on this machine'} cannot be used: {_brief(first)}") from error


def _check_reachable(address: str) -> None:
    """Checks that a server answers at an address; Ray itself would retry for minutes.

    Raises:
        _Unusable: if none answers, or the address has another form.
    """
    expected = f"RAY_ADDRESS: expected HOST:PORT of the head of a Ray cluster, got {address!r}"
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _Unusable(expected) from None
    if "://" in address or host is None or port is None:
        raise _Unusable(expected)
    try:
        socket.create_connection((host, port), _REACHING).close()
    except OSError as error:
        raise _Unusable(f"{expected}, which cannot be reached: {error}") from error


@dataclass(frozen=True)
class _Ready:
    """Report of a worker that is ready.

    Attributes:
        place: host name and process ID.
        versions: of the packages that its results depend on.
        refusal: why it cannot play the run, or an empty string.
    """

    place: str
    versions: dict[str, str]
    refusal: str


class _Worker:
    """Plays matches, somewhere in the cluster."""

    def __init__(self, config: RunConfig, here: Here) -> None:
        if Path(here.directory).is_dir():
            os.chdir(here.directory)
        sys.path += [entry for entry in here.path if entry not in sys.path]
        self._config = config
        self._players = Players(config)
        self._runner = asyncio.Runner()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="match")

    def get_ready(self) -> _Ready:
        """Makes every environment and policy of the run once, and reports the versions of this machine."""
        try:
            self._config.check(offline=True)
            refusal = ""
        except OptionError as error:
            refusal = str(error)
        return _Ready(f"{socket.gethostname()}, process {os.getpid()}", _versions(), refusal)

    def live(self) -> None:
        """Shows by its reply that the worker is alive."""

    def play(self, match: Match, played: Sequence[Turn]) -> Iterator[Turn | Played]:
        """Yields the turns of a match as they are played, then its result."""
        said: queue.SimpleQueue[Turn | Played | BaseException] = queue.SimpleQueue()
        self._thread.submit(self._play, match, played, said.put)
        while isinstance(item := said.get(), Turn):
            yield item
        if isinstance(item, BaseException):
            raise RuntimeError(f"{type(item).__name__}: {item}")
        yield item

    def _play(self, match: Match, played: Sequence[Turn], say: Callable[[Turn | Played | BaseException], None]) -> None:
        """Runs in the match thread: a policy that computes must not delay earlier turns."""
        try:
            say(self._runner.run(play_match(self._config, self._players, match, played, say)))
        except BaseException as error:  # e.g. a KeyboardInterrupt of a policy: it ends the worker, as in a pool
            say(error)


class _Cluster:
    """Workers in a cluster, each lent to one match at a time."""

    def __init__(self, pipe: "Connection[Any, Any]", config: RunConfig, here: Here) -> None:
        self._pipe = pipe
        self._worker = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Worker)
        self._arguments = config, here
        self._wanted = config.workers or max(int(ray.cluster_resources().get("CPU", 0)), 1)
        self._alive: dict[Any, str] = {}
        self._idle: asyncio.Queue[Any] = asyncio.Queue()
        self._stillborn = 0
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()
        self._over = asyncio.Event()

    async def serve(self) -> None:
        """Plays matches until ``None`` arrives or the pipe ends."""
        threading.Thread(target=self._listen, args=(asyncio.get_running_loop(),), daemon=True).start()
        try:
            async with self._group:
                for _ in range(self._wanted):
                    self._group.create_task(self._place())
                self._group.create_task(self._look_for_room())
                await self._over.wait()
                raise _Over
        except* _Over:
            pass

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs in a thread: reads the pipe, because the sender must not block."""
        message: Task | GiveUp | None
        while True:
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                message = None
            loop.call_soon_threadsafe(self._take, message)
            if message is None:
                return

    def _take(self, message: Task | GiveUp | None) -> None:
        if isinstance(message, Task):
            number = message.number
            self._tasks[number] = self._group.create_task(self._play(message))
            self._tasks[number].add_done_callback(lambda _: self._tasks.pop(number))
        elif isinstance(message, GiveUp):
            if message.number in self._tasks:
                self._tasks[message.number].cancel()
        else:
            self._over.set()

    async def _place(self) -> None:
        """Starts a worker, waiting for room if necessary, and lends it to matches once it is ready."""
        while True:
            worker = self._worker.remote(*self._arguments)
            try:
                ready: _Ready = await worker.get_ready.remote()
                break
            except RayError as error:
                self._stillborn += 1
                if self._stillborn == _STILLBORN * self._wanted:
                    self._fail(f"no worker can be started: {_brief(error)}; {_NEEDED}")
        if ready.versions != (here := _versions()):
            other = [
                f"{name} {found} instead of {here.get(name)}"
                for name, found in ready.versions.items()
                if found != here.get(name)
            ]
            self._fail(f"{ready.place}: it has {', '.join(other)}; {_NEEDED}")
        elif ready.refusal:
            self._fail(f"{ready.place}: {ready.refusal}; {_NEEDED}")
        else:
            self._stillborn = 0
            self._alive[worker] = ready.place
            self._idle.put_nowait(worker)
            self._pipe.send(Room(len(self._alive)))

    async def _look_for_room(self) -> None:
        """Fails if the cluster has no worker for ``PLACING`` seconds: it might never have one."""
        while True:
            await asyncio.sleep(PLACING)
            if not self._alive:
                free, total = (
                    int(found.get("CPU", 0)) for found in (ray.available_resources(), ray.cluster_resources())
                )
                self._fail(f"no room for a worker in {PLACING:g} s, which needs 1 CPU: {free} of {total} are free")

    async def _play(self, task: Task) -> None:
        worker = await self._find_idle()
        try:
            async for turn in worker.play.options(num_returns="streaming").remote(task.match, task.played):
                self._pipe.send(Said(task.number, await turn))
            self._idle.put_nowait(worker)
        except RayError as error:
            place = self._replace(worker)
            self._pipe.send(Said(task.number, WorkerDied(f"worker {place}: {_brief(error)}")))
        except asyncio.CancelledError:
            self._replace(worker)
            raise

    async def _find_idle(self) -> Any:
        """Returns an idle worker that is alive."""
        while True:
            worker = await self._idle.get()
            try:
                await worker.live.remote()
                return worker
            except RayError:
                self._replace(worker)

    def _replace(self, worker: Any) -> str:
        """Replaces a worker that is dead or has a cancelled match; returns where it was."""
        ray.kill(worker)
        if not self._over.is_set():
            self._group.create_task(self._place())
        return self._alive.pop(worker)

    def _fail(self, reason: str) -> None:
        address = ray.get_runtime_context().gcs_address
        self._pipe.send(Failed(f"nothing can be played in the Ray cluster at {address}: {reason}"))
        self._over.set()


_NEEDED = "every machine of the cluster needs the same versions, and the modules of your own policies and environments"


def _versions() -> dict[str, str]:
    return {**run_directory.versions(), "ray": ray.__version__}


def _brief(error: Exception) -> str:
    """Returns the informative part of a Ray error: often the end of a trace, before advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    line = lines[-1] if isinstance(error, RayError) or "Traceback" in str(error) else " ".join(lines)
    line = line.rpartition("Worker exit detail: ")[2].partition(" Some common causes")[0]
    return line[:_WORDS].rstrip(".")
