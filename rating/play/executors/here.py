"""The executor that plays matches in this process."""

import asyncio
from collections.abc import Sequence

from agents.records import Turn
from rating.config.run_file import RunConfig
from rating.play.executors.executor import OnTurn, Played, play_match
from rating.play.players import Players
from rating.play.slots import Slots
from rating.store.match import Match


class AsyncExecutor:
    """Plays matches in this process; for policies that wait for servers, and for people.

    Args:
        config: the run.
        players: source of environments and policies; the caller closes it.
        slots: limit concurrent matches.
    """

    def __init__(self, config: RunConfig, players: Players, slots: Slots) -> None:
        self._config = config
        self._players = players
        self.slots = slots

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match."""
        await asyncio.sleep(0)  # scripted matches never wait: yield to the others
        return await play_match(self._config, self._players, match, played, on_turn)
