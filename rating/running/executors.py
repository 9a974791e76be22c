"""Where a match is played: in this process, or in a pool of processes. The result is the same."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sqlite3
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
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
from rating.running.slots import Slots

OnTurn = Callable[[Turn], None]


@dataclass(frozen=True)
class Played:
    """What playing a match came to.

    Attributes:
        outcome: the outcome.
        digest: rolling hash of a finished match.
        error: why a match is void.
        culprit: the policy that failed, or an empty string.
        fatal: whether that policy fails whatever it is asked.
        final: whether trying again is useless for now.
    """

    outcome: Outcome
    digest: str = ""
    error: str = ""
    culprit: str = ""
    fatal: bool = False
    final: bool = False


class Executor(Protocol):
    """Plays matches.

    Attributes:
        slots: how many at once; whoever has a match played holds one.
    """

    slots: Slots

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match from where ``played`` left it; ``on_turn`` is called in this process after every new turn."""


async def play_match(
    config: RunConfig, players: Players, match: Match, played: Sequence[Turn], on_turn: OnTurn
) -> Played:
    """Plays a match in this process.

    Whatever fails makes it void and is not raised, except that a person quits or the store cannot be written.
    """
    seats = []
    agents: list[str] = []
    try:
        env = players.borrow_environment(match)
        agents = env.possible_agents
        seats = [(name, players.seat(name, match)) for name in match.policies]
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
        culprit = match.policies[agents.index(error.agent)] if error.agent in agents else ""
        return Played(void_outcome(match, VOID), "", str(error), culprit, error.fatal, error.final)
    except Exception:
        return Played(void_outcome(match, BUG), error=traceback.format_exc(limit=-8), final=True)
    finally:
        for name, player in seats:
            players.return_player(name, match.environment, player)


class AsyncExecutor:
    """Plays matches in this process: the place for policies that wait for servers, and for people.

    Args:
        config: the run.
        players: where environments and policies come from; whoever made them closes them.
        slots: how many matches at once.
    """

    def __init__(self, config: RunConfig, players: Players, slots: Slots) -> None:
        self._config = config
        self._players = players
        self.slots = slots

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match."""
        await asyncio.sleep(0)  # matches of scripted players never wait: let the others have a turn
        return await play_match(self._config, self._players, match, played, on_turn)


class ProcessExecutor:
    """Plays matches in worker processes, one at a time in each: the place for policies that compute.

    A worker is started when it is first needed, and another one in its place when it dies.

    Args:
        config: the run.
        slots: how many matches at once, and so the number of workers.
    """

    def __init__(self, config: RunConfig, slots: Slots) -> None:
        self._config = config
        self.slots = slots
        self._context = multiprocessing.get_context("spawn")
        self._threads = ThreadPoolExecutor(slots.count, thread_name_prefix="worker-pipe")
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match in an idle worker; if the worker dies the match is void."""
        worker = self._idle.pop() if self._idle else self._start()
        try:
            answer = await self._exchange(worker, (match, played))
            while isinstance(answer, Turn):
                on_turn(answer)
                answer = await self._exchange(worker)
        except (EOFError, ConnectionError) as error:
            self._stop(worker)
            return Played(void_outcome(match, VOID), error=f"the worker process died ({type(error).__name__})")
        except BaseException:
            self._stop(worker)  # it is at a match that nobody waits for
            raise
        self._idle.append(worker)
        return answer

    async def _exchange(self, worker: "_Worker", task: tuple[Match, Sequence[Turn]] | None = None) -> Turn | Played:
        """Returns what a worker says next, after sending it a match if there is one."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, worker.exchange, task)

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


class _Worker:
    def __init__(self, context: multiprocessing.context.SpawnContext, config: RunConfig) -> None:
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, config), daemon=True)
        with _interruptions_blocked():  # the process inherits that: this one decides what an interruption means
            self._process.start()
        theirs.close()

    def exchange(self, task: tuple[Match, Sequence[Turn]] | None) -> Turn | Played:
        """Sends a match, if there is one, and waits for a turn or the end; blocks."""
        if task is not None:
            self._pipe.send(task)
        answer: Turn | Played = self._pipe.recv()
        return answer

    def stop(self) -> None:
        """Ends the process; a reader blocked on the pipe sees its end."""
        self._process.kill()
        self._process.join()


@contextlib.contextmanager
def _interruptions_blocked() -> Iterator[None]:
    """Blocks the signals of an interruption, where the system can; on Windows a worker ignores them as soon as it serves."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock the signals when started with the process
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _serve(pipe: "Connection[Any, Any]", config: RunConfig) -> None:
    """Runs in a worker: plays one match after the other until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
