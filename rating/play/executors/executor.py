"""The interface of executors, the executor of this process, and the function that plays a match."""

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from agents.calling import provider_errors
from agents.errors import ProviderError, Quit
from agents.play import play_async
from agents.player import Player
from agents.records import Turn
from agents.secret import hide_keys
from rating.config.run_file import RunConfig
from rating.errors import HarnessError, StoreError
from rating.play.players import Players
from rating.store.records import BUG, VOID, Match, Outcome, outcome_of, void_outcome

OnTurn = Callable[[Turn], None]

_MOST_DEATHS = 2
"""Worker deaths after which a match is void: one can be bad luck, two are not."""

_log = logging.getLogger(__name__)


class WorkerDied(HarnessError):
    """A worker ended in the middle of a match; the message names the worker and how it ended."""


@dataclass(frozen=True)
class Played:
    """Result of playing a match.

    Attributes:
        outcome: the outcome.
        digest: rolling hash of a finished match.
        error: why a match is void.
        culprit: the policy that failed, or an empty string.
        fatal: whether the policy fails at every request.
        final: whether another attempt is useless for now.
        deaths: number of workers that died during the match.
    """

    outcome: Outcome
    digest: str = ""
    error: str = ""
    culprit: str = ""
    fatal: bool = False
    final: bool = False
    deaths: int = 0


class Slots:
    """A number of slots shared by several groups.

    A free slot goes to the group that holds the fewest; ties go to the group named first. A group with many waiting matches
    thus does not starve the others. Within a group, requests are served in order.

    Args:
        count: number of slots, 1 or more.
        groups: names of the groups; their order breaks ties.

    Attributes:
        count: the number of slots.
    """

    def __init__(self, count: int, groups: Sequence[str]) -> None:
        self.count = count
        self._free = count
        self._held = dict.fromkeys(groups, 0)
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {group: deque() for group in groups}
        self._granting = False

    def widen(self, count: int) -> None:
        """Raises the number of slots to ``count``; never lowers it."""
        added = max(count - self.count, 0)
        self.count += added
        self._free += added
        self._grant_soon()

    @asynccontextmanager
    async def hold(self, group: str) -> AsyncIterator[None]:
        """Waits for a slot and holds it."""
        granted = asyncio.get_running_loop().create_future()
        self._waiting[group].append(granted)
        self._grant_soon()
        try:
            await granted
            yield
        finally:
            if granted.done() and not granted.cancelled():
                self._held[group] -= 1
                self._free += 1
                self._grant_soon()

    def _grant_soon(self) -> None:
        """Grants free slots after all pending requests have been made."""
        if not self._granting:
            self._granting = True
            asyncio.get_running_loop().call_soon(self._grant)

    def _grant(self) -> None:
        self._granting = False
        while self._free and (waiting := [group for group, queue in self._waiting.items() if queue]):
            group = min(waiting, key=self._held.__getitem__)
            granted = self._waiting[group].popleft()
            if not granted.cancelled():
                self._free -= 1
                self._held[group] += 1
                granted.set_result(None)


class Executor(Protocol):
    """Plays matches.

    Attributes:
        slots: limit concurrent matches; the caller of ``play`` holds one.
    """

    slots: Slots

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match on from its turns ``played``; calls ``on_turn`` in this process after every new turn."""


class AsyncExecutor:
    """Plays matches in this process; for policies that wait for servers, and for people."""

    def __init__(self, config: RunConfig, players: Players, slots: Slots) -> None:
        self._config = config
        self._players = players
        self.slots = slots

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match."""
        await asyncio.sleep(0)  # scripted matches never wait: yield to the others
        return await play_match(self._config, self._players, match, played, on_turn)


async def play_despite_death(
    play: Callable[[Match, Sequence[Turn], OnTurn], Awaitable[Played]],
    match: Match,
    played: Sequence[Turn],
    on_turn: OnTurn,
) -> Played:
    """Plays a match and resumes it once if its worker dies; void, and final for now, if the second worker dies too.

    Args:
        play: plays the match in a worker; raises ``WorkerDied``.
        match: the match.
        played: its recorded turns.
        on_turn: called after every new turn.
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


async def play_match(
    config: RunConfig, players: Players, match: Match, played: Sequence[Turn], on_turn: OnTurn
) -> Played:
    """Plays a match in this process.

    Failures are part of the result. Only ``Quit``, by a person, and ``StoreError`` are raised.
    """
    seats: list[tuple[str, Player]] = []
    agents: list[str] = []
    try:
        env = players.borrow_environment(match)
        agents = env.possible_agents
        for name, agent in zip(match.policies, agents, strict=True):
            seats.append((name, _take_seat(players, match, name, agent)))
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
    except (Quit, StoreError):
        raise
    except ProviderError as error:
        culprit = match.policies[agents.index(error.agent)] if error.agent in agents else ""
        return Played(void_outcome(match, VOID), "", str(error), culprit, error.fatal, error.final)
    except (Exception, SystemExit):
        return Played(void_outcome(match, BUG), error=hide_keys(traceback.format_exc(limit=-8)), final=True)
    finally:
        for name, player in seats:
            players.return_player(name, match.environment, player)


def _take_seat(players: Players, match: Match, name: str, agent: str) -> Player:
    """Returns a player for a seat.

    A policy that cannot be made counts as a provider failure: the environment is not at fault, and a later attempt can succeed.

    Raises:
        ProviderError: if the policy cannot be made.
    """
    try:
        with provider_errors("making the policy"):
            return players.seat(name, match)
    except ProviderError as error:
        error.agent = agent
        raise
