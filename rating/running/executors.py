"""Where a match is played: in this process, or in a pool of processes. The result is the same."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sqlite3
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Protocol

from agents.errors import ProviderError, Quit
from agents.play import play_async
from agents.records import Turn
from rating.records.match import Match
from rating.records.outcome import BUG, VOID, Outcome
from rating.records.record import outcome_of, void_outcome
from rating.running.players import Players
from rating.running.run_file import RunConfig

OnTurn = Callable[[Turn], None]


@dataclass(frozen=True)
class Played:
    """What playing a match came to.

    Attributes:
        outcome: the outcome.
        digest: rolling hash of a finished match.
        error: why a match is void.
        fatal: whether trying again is useless.
    """

    outcome: Outcome
    digest: str = ""
    error: str = ""
    fatal: bool = False


class Executor(Protocol):
    """Plays matches."""

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match from where ``played`` left it; ``on_turn`` is called in this process after every new turn."""

    async def close(self) -> None:
        """Releases everything."""


async def play_match(
    config: RunConfig, players: Players, match: Match, played: Sequence[Turn], on_turn: OnTurn
) -> Played:
    """Plays a match in this process.

    Whatever fails makes it void and is not raised, except that a person quits or the store cannot be written.
    """
    seats = []
    try:
        env = players.borrow_environment(match)
        agents = env.possible_agents
        seats = [(name, players.borrow_player(name, match.environment)) for name in match.policies]
        episode = await play_async(
            env,
            dict(zip(agents, (player for _, player in seats), strict=True)),
            match.seed,
            config.turn_settings(match.environment),
            played=played,
            on_turn=on_turn,
        )
        outcome = outcome_of(match, agents, episode)
        players.return_environment(match, env)
        return Played(outcome, episode.digest)
    except (Quit, sqlite3.Error):
        raise
    except ProviderError as error:
        return Played(void_outcome(match, VOID), error=str(error), fatal=error.fatal)
    except Exception:
        return Played(void_outcome(match, BUG), error=traceback.format_exc(limit=-8), fatal=True)
    finally:
        for name, player in seats:
            players.return_player(name, match.environment, player)


class AsyncExecutor:
    """Plays many matches at once in this process: the place for policies that wait for servers.

    Args:
        config: the run.
        players: where environments and policies come from.
    """

    def __init__(self, config: RunConfig, players: Players) -> None:
        self._config = config
        self._players = players
        self._slots = asyncio.Semaphore(config.concurrency)

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match when a slot is free."""
        async with self._slots:
            await asyncio.sleep(0)  # matches of scripted players never wait: let the others have a turn
            return await play_match(self._config, self._players, match, played, on_turn)

    async def close(self) -> None:
        """Closes environments and policies."""
        await self._players.close()


class ProcessExecutor:
    """Plays matches in worker processes: the place for policies that compute.

    Args:
        config: the run.
    """

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        count = config.workers or os.cpu_count() or 1
        self._context = multiprocessing.get_context("spawn")
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="worker-pipe")
        self._workers: list[_Worker] = []
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        for _ in range(count):
            self._start_worker()

    def _start_worker(self) -> None:
        worker = _Worker(self._context, self._config)
        self._workers.append(worker)
        self._idle.put_nowait(worker)

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match in the next idle worker; a worker that dies makes the match void and is replaced."""
        worker = await self._idle.get()
        try:
            worker.pipe.send((match, played))
            while True:
                message = await asyncio.get_running_loop().run_in_executor(self._threads, worker.pipe.recv)
                if isinstance(message, Played):
                    self._idle.put_nowait(worker)
                    return message
                on_turn(message)
        except (EOFError, OSError) as error:
            self._workers.remove(worker)
            worker.stop()
            self._start_worker()
            return Played(void_outcome(match, VOID), error=f"the worker process died ({type(error).__name__})")
        except asyncio.CancelledError:
            worker.stop()
            raise

    async def close(self) -> None:
        """Stops the workers."""
        for worker in self._workers:
            worker.stop()
        self._threads.shutdown(wait=True)


class _Worker:
    def __init__(self, context: multiprocessing.context.SpawnContext, config: RunConfig) -> None:
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, config), daemon=True)
        resource_tracker.ensure_running()  # it would unblock the signal when started with the process
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:  # the process inherits the mask: this one decides what an interruption means
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()

    def stop(self) -> None:
        """Ends the process; a reader blocked on the pipe sees its end."""
        self._process.kill()
        self._process.join()


def _serve(pipe: "Connection[Any, Any]", config: RunConfig) -> None:
    """Runs in a worker: plays one match after the other until the pipe is closed."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    players = Players(config)
    with contextlib.suppress(EOFError, OSError), asyncio.Runner() as runner:
        while True:
            match, played = pipe.recv()
            pipe.send(runner.run(play_match(config, players, match, played, pipe.send)))


def _end_with_parent() -> None:
    """Ends a worker whose parent was killed, even in the middle of a turn that takes for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
