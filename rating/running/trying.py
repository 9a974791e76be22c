"""A try of a match: played from where it was left, and recorded."""

import asyncio
import time
from contextlib import suppress

from agents.records import Turn
from rating.errors import StoreError
from rating.records.match import Match
from rating.records.store import Store
from rating.running.budget import Halted
from rating.running.executors.executor import Executor, OnTurn, Played

HELD_BACK = 0.5
"""Seconds of computing that may be lost with a process that is killed: turns that took less are written together."""


async def try_match(
    store: Store,
    executor: Executor,
    match: Match,
    on_turn: OnTurn,
    *,
    is_repeatable: bool,
) -> Played:
    """Plays a match from the turn that it had come to, and records what that came to.

    Args:
        store: of the run.
        executor: where it is played.
        match: the match, entered before.
        on_turn: called after every new turn.
        is_repeatable: whether a turn that is lost is merely computed again; if not, each is safe before the next one begins.
    """
    turns = _NewTurns(store, match, HELD_BACK if is_repeatable else 0)

    def take(turn: Turn) -> None:
        turns.add(turn)
        on_turn(turn)

    try:
        played = await executor.play(match, store.turns(match), take)
        store.finish(match, played.outcome, digest=played.digest, error=played.error, turns=turns.held)
        return played
    except Halted:
        turns.write()
        raise
    finally:
        turns.close()


class _NewTurns:
    """The turns of a try, which are written at once, or held back for a while so that many are one transaction.

    Args:
        store: of the run.
        match: the match.
        seconds: of play that may be held back.

    Attributes:
        held: turns that are not written yet.
    """

    def __init__(self, store: Store, match: Match, seconds: float) -> None:
        self._store = store
        self._match = match
        self._seconds = seconds
        self._due = time.monotonic() + seconds
        self._timer: asyncio.TimerHandle | None = None
        self.held: list[Turn] = []

    def add(self, turn: Turn) -> None:
        """Takes a turn, and writes what is held if it is time to."""
        self.held.append(turn)
        left = self._due - time.monotonic()
        if left <= 0:
            self.write()
        elif self._timer is None:  # the next turn may take long
            self._timer = asyncio.get_running_loop().call_later(left, self._write_meanwhile)

    def write(self) -> None:
        """Writes what is held."""
        self.close()
        if self.held:
            self._store.add_turns(self._match, self.held)
            self.held = []
        self._due = time.monotonic() + self._seconds

    def close(self) -> None:
        """Writes nothing more by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write_meanwhile(self) -> None:
        with suppress(StoreError):  # if it is lasting, the next write fails in the task of the match
            self.write()
