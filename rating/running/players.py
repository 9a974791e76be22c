"""Environments and players of a run, made once and lent to one match at a time."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from pettingzoo import AECEnv

from agents.desk import Seat
from agents.models import ModelService
from agents.models.calls import Call
from agents.player import Player, close_players
from agents.policy import Policy
from agents.registry import make_policy
from llmarena_envs.catalogue import make_environment
from rating.records.match import Match
from rating.running.run_file import PERSON, RunConfig
from rating.running.session import ONE_GO, Session

COMPUTING = 2
"""Scripted policies that compute at once while pages are served: they share one core, of which the pages need some."""


class Players:
    """Lends what a match needs, so that prompts and models are not loaded again for every match.

    Args:
        config: the run.
        session: what holds for this go at it.
        on_call: told of every call of a model, in the task of its match.

    Raises:
        OptionError: if the cache that the session names cannot be used.
    """

    def __init__(
        self, config: RunConfig, session: Session = ONE_GO, on_call: Callable[[Call], None] = lambda call: None
    ) -> None:
        self._config = config
        self._cache = session.open_cache()
        self._desk = session.desk
        self._computing = None if session.desk is None else asyncio.Semaphore(COMPUTING)
        self._service = ModelService(on_call, self._cache, offline=session.offline)
        self._agents: dict[str, tuple[str, ...]] = {}
        self._idle_environments: dict[str, list[AECEnv]] = defaultdict(list)
        self._idle_players: dict[tuple[str, str], list[Player]] = defaultdict(list)

    def borrow_environment(self, match: Match) -> AECEnv:
        """Returns an environment for the match that nobody else uses."""
        idle = self._idle_environments[_key(match)]
        return idle.pop() if idle else make_environment(match.environment, match.options)

    def return_environment(self, match: Match, env: AECEnv) -> None:
        """Gives an environment back; one in which something went wrong is dropped instead."""
        self._idle_environments[_key(match)].append(env)

    def seats(self, match: Match) -> dict[str, str]:
        """Returns the name of the policy on each seat of a match, by the id of the agent."""
        key = _key(match)
        if key not in self._agents:
            env = self.borrow_environment(match)
            self._agents[key] = tuple(env.possible_agents)
            self.return_environment(match, env)
        return dict(zip(self._agents[key], match.policies, strict=True))

    def stop_calls(self, error: Exception) -> None:
        """Lets no further call of a model begin: who asks gets ``error``."""
        self._service.stop(error)

    @property
    def in_flight(self) -> int:
        """The number of calls of models under way."""
        return self._service.in_flight

    @property
    def calls_allowed(self) -> int:
        """The number of calls that may be under way at once for now."""
        return self._service.limit

    def borrow_player(self, name: str, environment: str) -> Player:
        """Returns a player that nobody else uses."""
        idle = self._idle_players[name, environment]
        if idle:
            return idle.pop()
        config = self._config.find_policy(name)
        policy = make_policy(config.spec, environment, config.options, service=self._service)
        return Player(policy, self._computing)

    def seat(self, name: str, match: Match) -> Player:
        """Returns a player for a match that nobody else uses: a person has a seat of its own in each, if there is a desk."""
        if self._desk is not None and self._config.find_policy(name).spec == PERSON:
            return Player(self._desk.seat(name, match.id, match.environment))
        return self.borrow_player(name, match.environment)

    def return_player(self, name: str, environment: str, player: Player) -> None:
        """Gives a player back; one that still works on a reply that came too late is dropped instead, and so is a seat."""
        if isinstance(player.policy, Seat):
            player.policy.leave()
        elif not player.is_stuck:
            self._idle_players[name, environment].append(player)

    def is_scripted(self, match: Match) -> bool:
        """Says whether every seat of the match is a baseline, which computes and waits for nothing."""
        return all(player.is_scripted for player in self._look_at(match))

    def has_person(self, match: Match) -> bool:
        """Says whether a person plays, who can only be asked in the process that has the terminal."""
        return any(player.is_person for player in self._look_at(match))

    def with_preflight(self) -> dict[str, tuple[Policy, dict[str, Any]]]:
        """Returns the policies of the run that can be checked before they play, those that serve included.

        Returns:
            By name a policy, and what the first player of one of its environments reads at the beginning of a match.
        """
        found: dict[str, tuple[Policy, dict[str, Any]]] = {}
        for environment in self._config.environment:
            observation: dict[str, Any] | None = None
            for name in self._config.seated(environment.name):
                player = self.borrow_player(name, environment.name)
                self.return_player(name, environment.name, player)
                if hasattr(player.policy, "preflight") and name not in found:
                    observation = observation or _first_observation(
                        environment.name, self._config.options(environment.name)
                    )
                    found[name] = player.policy, observation
        return found

    def uses_service(self, match: Match) -> bool:
        """Says whether a model plays or serves, which is asked in this process: what limits and counts its calls is one a run."""
        return any(player.uses_service for player in self._look_at(match))

    def _look_at(self, match: Match) -> Iterator[Player]:
        for name in sorted(set(match.policies)):
            player = self.borrow_player(name, match.environment)
            self.return_player(name, match.environment, player)
            yield player

    async def close(self) -> None:
        """Closes every environment and player that was given back, the connections of all models, and the cache."""
        for environments in self._idle_environments.values():
            for env in environments:
                env.close()
        await close_players(player for players in self._idle_players.values() for player in players)
        await self._service.close()
        if self._cache is not None:
            self._cache.close()


def _first_observation(environment: str, options: dict[str, Any]) -> dict[str, Any]:
    env = make_environment(environment, options)
    env.reset(seed=0)
    observation: dict[str, Any] = env.observe(env.agent_selection)
    env.close()
    return observation


def _key(match: Match) -> str:
    return f"{match.environment} {json.dumps(match.options, sort_keys=True)}"
