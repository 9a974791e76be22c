"""Workers that die: a match is played on once, from the turns that it had come to."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agents.records import Turn
from rating.errors import HarnessError
from rating.records.match import Match
from rating.records.outcome import VOID
from rating.records.record import void_outcome
from rating.running.executors.executor import OnTurn, Played

_MOST_DEATHS = 2
"""Workers that may die at a match, after which it is void: one may have been unlucky, not two."""

_log = logging.getLogger(__name__)


class WorkerDied(HarnessError):
    """A worker ended in the middle of a match; the message says which, and how."""


async def play_despite_death(
    play: Callable[[Match, Sequence[Turn], OnTurn], Awaitable[Played]],
    match: Match,
    played: Sequence[Turn],
    on_turn: OnTurn,
) -> Played:
    """Plays a match, and plays it on once if the worker dies that plays it.

    Args:
        play: plays it in some worker; raises ``WorkerDied``.
        match: the match.
        played: its turns so far.
        on_turn: called after every new turn.

    Returns:
        What it came to: void, and not to be tried again for now, if the second worker dies too.
    """
    turns = [*played]
    deaths: list[str] = []

    def keep(turn: Turn) -> None:
        turns.append(turn)
        on_turn(turn)

    while len(deaths) < _MOST_DEATHS:
        try:
            result = await play(match, (*turns,), keep)
        except WorkerDied as death:
            deaths.append(str(death))
            _log.warning("a worker died in the middle of match %d, turn %d: %s", match.number, len(turns), death)
        else:
            return replace(result, deaths=len(deaths))
    policies = ", ".join(dict.fromkeys(match.policies))
    error = f"{len(deaths)} workers died, one after the other, at a match of {policies}: {'; then '.join(deaths)}"
    return Played(void_outcome(match, VOID), error=error, final=True, deaths=len(deaths))
