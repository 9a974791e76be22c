"""An attempt at a match: resumed from its recorded turns, and recorded."""

import asyncio
import time
from contextlib import suppress

from agents.records import Turn
from rating.config.budget import Halted
from rating.errors import StoreError
from rating.play.executors.executor import Executor, OnTurn, Played
from rating.store.records import Match
from rating.store.store import Store

HELD_BACK = 0.5
"""Seconds of computation that can be lost with a killed process: turns within this time are written together."""


async def try_match(
    store: Store,
    executor: Executor,
    match: Match,
    on_turn: OnTurn,
    *,
    is_repeatable: bool,
) -> Played:
    """Plays a match on from its recorded turns, and records the result.

    Args:
        store: of the run.
        executor: plays the match.
        match: the match, already in the store.
        on_turn: called after every new turn.
        is_repeatable: whether lost turns can be computed again; if not, each turn is written before the next one begins.
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
    """The turns of an attempt, written at once or buffered, to write many in one transaction.

    Args:
        store: of the run.
        match: the match.
        seconds: maximum seconds of play to buffer.

    Attributes:
        held: turns not yet written.
    """

    def __init__(self, store: Store, match: Match, seconds: float) -> None:
        self._store = store
        self._match = match
        self._seconds = seconds
        self._due = time.monotonic() + seconds
        self._timer: asyncio.TimerHandle | None = None
        self.held: list[Turn] = []

    def add(self, turn: Turn) -> None:
        """Adds a turn, and writes the buffer if it is due."""
        self.held.append(turn)
        left = self._due - time.monotonic()
        if left <= 0:
            self.write()
        elif self._timer is None:  # the next turn may take long
            self._timer = asyncio.get_running_loop().call_later(left, self._write_meanwhile)

    def write(self) -> None:
        """Writes the buffer."""
        self.close()
        if self.held:
            self._store.add_turns(self._match, self.held)
            self.held = []
        self._due = time.monotonic() + self._seconds

    def close(self) -> None:
        """Cancels the scheduled write."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write_meanwhile(self) -> None:
        with suppress(StoreError):  # if the error persists, the next write fails in the task of the match
            self.write()
