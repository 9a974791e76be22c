"""The interface of executors, and the function that plays a match."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.calling import provider_errors
from agents.errors import ProviderError, Quit
from agents.play import play_async
from agents.player import Player
from agents.records import Turn
from agents.secret import hide_keys
from rating.config.run_file import RunConfig
from rating.errors import StoreError
from rating.play.players import Players
from rating.play.slots import Slots
from rating.store.match import Match
from rating.store.outcome import BUG, VOID, Outcome
from rating.store.record import outcome_of, void_outcome

OnTurn = Callable[[Turn], None]


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


class Executor(Protocol):
    """Plays matches.

    Attributes:
        slots: limit concurrent matches; the caller of ``play`` holds one.
    """

    slots: Slots

    async def play(self, match: Match, played: Sequence[Turn], on_turn: OnTurn) -> Played:
        """Plays a match on from its turns ``played``; calls ``on_turn`` in this process after every new turn."""


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
