"""Recovery from dead workers: a match is resumed once, from its recorded turns."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agents.records import Turn
from rating.errors import HarnessError
from rating.play.executors.executor import OnTurn, Played
from rating.store.match import Match
from rating.store.outcome import VOID
from rating.store.record import void_outcome

_MOST_DEATHS = 2
"""Worker deaths after which a match is void: one can be bad luck, two are not."""

_log = logging.getLogger(__name__)


class WorkerDied(HarnessError):
    """A worker ended in the middle of a match; the message names the worker and how it ended."""


async def play_despite_death(
    play: Callable[[Match, Sequence[Turn], OnTurn], Awaitable[Played]],
    match: Match,
    played: Sequence[Turn],
    on_turn: OnTurn,
) -> Played:
    """Plays a match and resumes it once if its worker dies.

    Args:
        play: plays the match in a worker; raises ``WorkerDied``.
        match: the match.
        played: its recorded turns.
        on_turn: called after every new turn.

    Returns:
        The result: void, and final for now, if the second worker dies too.
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
