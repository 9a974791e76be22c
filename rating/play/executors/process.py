"""The executor that plays matches in a pool of processes.

Child processes of a run ignore interruptions and end when the run does.
"""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from agents.records import Turn
from rating.config.run_file import RunConfig
from rating.play.executors.executor import OnTurn, Played, Slots, WorkerDied, play_despite_death, play_match
from rating.play.players import Players
from rating.store.records import Match

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)
"""Signals that terminals, service managers and batch systems send to every process of a run; its main process handles them."""

_LAST_MOMENTS = 5.0
"""Seconds to wait for a process to close all files after its pipe was closed."""

_BLINK = 0.5
"""Seconds to wait for the exit code of a process after its pipe was closed."""


class ProcessExecutor:
    """Plays matches in worker processes, one at a time in each; for policies that compute.

    Workers start on demand, as many as there are slots; a dead worker is replaced.
    """

    def __init__(self, config: RunConfig, slots: Slots) -> None:
        self._config = config
        self.slots = slots
        self._context = _context()
        self._threads = ThreadPoolExecutor(slots.count, thread_name_prefix="worker-pipe")
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match in an idle worker; resumes it in another one if that worker dies."""
        return await play_despite_death(self._play, match, played, on_turn)

    async def _play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        worker = self._find_idle() or self._start()
        try:
            answer = await self._exchange(worker, (match, played))
            while isinstance(answer, Turn):
                on_turn(answer)
                answer = await self._exchange(worker)
        except BaseException:
            self._stop(worker)  # it is dead, or its match was cancelled
            raise
        self._idle.append(worker)
        return answer

    async def _exchange(self, worker: "_Worker", task: tuple[Match, Sequence[Turn]] | None = None) -> Turn | Played:
        """Returns the next message of a worker, after sending it a match if given.

        Raises:
            WorkerDied: if the worker ends instead.
        """
        answer = await asyncio.get_running_loop().run_in_executor(self._threads, worker.exchange, task)
        if answer is None:
            raise WorkerDied(worker.obituary())
        return answer

    def _find_idle(self) -> "_Worker | None":
        """Returns an idle worker that is alive, or ``None``."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive():
                return worker
            self._stop(worker)
        return None

    def _start(self) -> "_Worker":
        worker = _Worker(self._context, self._config)
        self._workers.append(worker)
        return worker

    def _stop(self, worker: "_Worker") -> None:
        self._workers.remove(worker)
        worker.stop()

    async def close(self) -> None:
        """Stops the workers."""
        for worker in [*self._workers]:
            self._stop(worker)
        self._threads.shutdown(wait=True)


def _context() -> Any:
    """Returns the context that starts workers: a fork server with slow imports preloaded, or spawn if unsupported."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


class _Worker:
    def __init__(self, context: Any, config: RunConfig) -> None:
        self._pipe, theirs = context.Pipe()
        # The fork server keeps the environment variables of its own start.
        self._process = context.Process(target=_serve, args=(theirs, config, dict(os.environ)), daemon=True)
        with (
            safe_path(),
            interruptions_blocked(),
        ):  # inherited by the process: only its parent handles interruptions
            self._process.start()
        theirs.close()

    def is_alive(self) -> bool:
        """Returns whether the process runs."""
        return self._process.is_alive()

    def exchange(self, task: tuple[Match, Sequence[Turn]] | None) -> Turn | Played | None:
        """Sends a match, if given, and blocks until the next turn or the result; ``None`` if the process ends."""
        try:
            if task is not None:
                self._pipe.send(task)
            answer: Turn | Played = self._pipe.recv()
            return answer
        except (EOFError, OSError):
            wait([self._process.sentinel], _LAST_MOMENTS)
            return None

    def obituary(self) -> str:
        """Returns how the process ended; blocks up to ``_BLINK`` seconds."""
        self._process.join(_BLINK)
        return f"worker process {self._process.pid} {ending(self._process.exitcode)}"

    def stop(self) -> None:
        """Kills the process; a reader blocked on the pipe gets an end of file."""
        self._process.kill()
        self._process.join()


def _serve(pipe: "Connection[Any, Any]", config: RunConfig, environ: dict[str, str]) -> None:
    """Runs in a worker: plays matches until the pipe is closed."""
    os.environ.clear()
    os.environ.update(environ)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    players = Players(config)
    with contextlib.suppress(EOFError, OSError), asyncio.Runner() as runner:
        while True:
            match, played = pipe.recv()
            pipe.send(runner.run(play_match(config, players, match, played, pipe.send)))


@contextlib.contextmanager
def interruptions_blocked() -> Iterator[None]:
    """Blocks ``INTERRUPTIONS`` in processes started meanwhile, if the platform supports it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock the signals when started with the process
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Keeps the working directory off the path of processes started meanwhile until they receive the path of this process."""
    name = "PYTHONSAFEPATH"  # without it ``python -c``, which starts them, looks in the working directory first
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def end_with_parent(grace: float = 0.0) -> None:
    """Ends this process after its parent has ended, even if the parent was killed; blocks until then.

    Args:
        grace: seconds this process has to end by itself.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        time.sleep(grace)
        os._exit(1)


def ending(code: int | None) -> str:
    """Returns how a process ended, in words; ``None`` means that it has not."""
    if code is None:
        return "closed its pipe"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}" + (" (as the system does when memory runs out)" if name == "SIGKILL" else "")
