"""Matches that are played in this process."""

import asyncio
from collections.abc import Sequence

from agents.records import Turn
from rating.records.match import Match
from rating.running.executors.executor import OnTurn, Played, play_match
from rating.running.players import Players
from rating.running.run_file import RunConfig
from rating.running.slots import Slots


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
