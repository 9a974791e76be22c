"""Environments and players of a run, reused by one match after another."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from pettingzoo import AECEnv

from agents.human_queue import Seat
from agents.models import ModelService
from agents.models.calls import Call
from agents.models.preflight import check_models
from agents.player import Player, close_players
from agents.policy import Policy
from agents.registry import make_policy
from llmarena_envs.core.errors import ArenaError
from rating.config.run_file import PERSON, RunConfig
from rating.play.session import ONE_GO, Session
from rating.store.environments import make_environment
from rating.store.records import Match

COMPUTING = 2
"""Scripted policies that compute at once while pages are served, on the core that serves the pages."""


class Checked(NamedTuple):
    """Result of asking every model once.

    Attributes:
        models: number of models asked.
        errors: by policy name, why it cannot play.
    """

    models: int
    errors: Mapping[str, ArenaError]

    def __str__(self) -> str:
        reasons = "".join(f"\n  {name}: {error}" for name, error in sorted(self.errors.items()))
        return f"{len(self.errors)} of {self.models} models cannot be asked:{reasons}"


class Players:
    """Lends environments and players to matches; prompts and models are loaded only once.

    Args:
        config: the run.
        session: settings of the session.
        on_call: called after every model call, in the task of its match.
        on_send: called before every model call, in the task of its match.

    Raises:
        OptionError: if the cache of the session cannot be used.
    """

    def __init__(
        self,
        config: RunConfig,
        session: Session = ONE_GO,
        on_call: Callable[[Call], None] = lambda call: None,
        on_send: Callable[[Call], None] = lambda call: None,
    ) -> None:
        config.admit()  # worker processes have not read the run file
        self._config = config
        self._cache = session.open_cache()
        self._queue = session.human_queue
        self._computing = None if session.human_queue is None else asyncio.Semaphore(COMPUTING)
        self._service = ModelService(on_call, self._cache, offline=session.offline, on_send=on_send)
        self._agents: dict[str, tuple[str, ...]] = {}
        self._idle_environments: dict[str, list[AECEnv]] = defaultdict(list)
        self._idle_players: dict[tuple[str, str], list[Player]] = defaultdict(list)

    def borrow_environment(self, match: Match) -> AECEnv:
        """Returns an unused environment for the match."""
        idle = self._idle_environments[_key(match)]
        return idle.pop() if idle else make_environment(match.environment, match.options)

    def return_environment(self, match: Match, env: AECEnv) -> None:
        """Takes back an environment; after an error the caller drops it instead."""
        self._idle_environments[_key(match)].append(env)

    def seats(self, match: Match) -> dict[str, str]:
        """Returns the policy name on each seat of a match, by agent ID."""
        key = _key(match)
        if key not in self._agents:
            env = self.borrow_environment(match)
            self._agents[key] = tuple(env.possible_agents)
            self.return_environment(match, env)
        return dict(zip(self._agents[key], match.policies, strict=True))

    def caller(self, call: Call, match: Match | None) -> str:
        """Returns the policy that made a call; outside of matches, the first policy with this model."""
        return self.seats(match)[call.agent] if match else self._by_model.get(call.model, call.model)

    @cached_property
    def _by_model(self) -> dict[str, str]:
        """Name of the first policy that asks a model, by the name of the model."""
        found: dict[str, str] = {}
        for (_, name), target in self._config.targets().items():
            found.setdefault(target.model, name)
        return found

    def stop_calls(self, error: Exception) -> None:
        """Stops all further model calls: they raise ``error``."""
        self._service.stop(error)

    @property
    def in_flight(self) -> int:
        """Number of in-flight model calls."""
        return self._service.in_flight

    @property
    def calls_allowed(self) -> int:
        """Current limit on concurrent model calls."""
        return self._service.limit

    def borrow_player(self, name: str, environment: str) -> Player:
        """Returns an unused player."""
        idle = self._idle_players[name, environment]
        if idle:
            return idle.pop()
        config = self._config.find_policy(name)
        policy = make_policy(config.spec, environment, config.options, service=self._service)
        return Player(policy, self._computing)

    def seat(self, name: str, match: Match) -> Player:
        """Returns an unused player for a match; with a human input queue, a person gets a new seat in each match."""
        if self._queue is not None and self._config.find_policy(name).spec == PERSON:
            return Player(self._queue.seat(name, match.id, match.environment, self.seats(match)))
        return self.borrow_player(name, match.environment)

    def return_player(self, name: str, environment: str, player: Player) -> None:
        """Takes back a player; drops seats of people, and players still busy with a late reply."""
        if isinstance(player.policy, Seat):
            player.policy.leave()
        elif not player.is_stuck:
            self._idle_players[name, environment].append(player)

    def is_scripted(self, match: Match) -> bool:
        """Returns whether every seat of the match is a baseline, which computes and never waits."""
        return all(player.is_scripted for player in self._look_at(match))

    def is_repeatable(self, match: Match) -> bool:
        """Returns whether lost turns of the match can be computed again: no paid calls, no people."""
        return all(
            player.is_scripted and not (player.uses_service or player.is_person) for player in self._look_at(match)
        )

    def has_person(self, match: Match) -> bool:
        """Returns whether a person plays; people can only be asked in the process that has the terminal."""
        return any(player.is_person for player in self._look_at(match))

    async def check_models(self) -> Checked:
        """Asks every model once, including those that only serve."""
        models = self._with_preflight()
        errors = await check_models(
            {name: policy for name, (policy, _) in models.items()},
            {name: observation for name, (_, observation) in models.items()},
        )
        return Checked(len(models), errors)

    def _with_preflight(self) -> dict[str, tuple[Policy, dict[str, Any]]]:
        """Returns the policies of the run with a preflight check, including those that only serve.

        Returns:
            By name a policy, and the first observation of a match in one of its environments.
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
        """Returns whether a model plays or serves; model calls are limited and counted in this process."""
        return any(player.uses_service for player in self._look_at(match))

    def _look_at(self, match: Match) -> Iterator[Player]:
        for name in sorted(set(match.policies)):
            player = self.borrow_player(name, match.environment)
            self.return_player(name, match.environment, player)
            yield player

    async def close(self) -> None:
        """Closes all returned environments and players, the model connections and the cache."""
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
