"""A match of an AEC environment."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from llmarena_envs.aec.rendering.rendering import Rendering
from llmarena_envs.core.errors import ArenaError


class AecError(ArenaError, RuntimeError):
    """An AEC environment that breaks PettingZoo's interface."""


_SHARED = ("action_spaces", "observation_spaces")
"""Attributes of an environment that copies share, since they do not change."""


class Inner:
    """A match of an AEC environment, from its reset on.

    The total of an agent is the sum of the rewards that PettingZoo's ``last`` returns at its turns.

    Args:
        env: the environment; it belongs to the match.
        seed: seed of the reset.
        name: name of the environment for error messages.
        rendering: of the environment.
        masked: whether it has an action mask; otherwise every action is legal.

    Attributes:
        mover: the agent to move, ``None`` after the end.
        legal: its legal actions.

    Raises:
        AecError: if the environment cannot be reset, or breaks PettingZoo's interface.
    """

    def __init__(self, env: AECEnv, seed: int, name: str, rendering: Rendering, masked: bool) -> None:
        self.env = env
        self.name = name
        self._rendering = rendering
        self._masked = masked
        self._call("reset(seed)", lambda: env.reset(seed=seed))
        self._received = dict.fromkeys(self._call("possible_agents", lambda: list(env.possible_agents)), 0.0)
        self._last: dict[Any, Any] = {}  # last observations of the agents that have left
        self._go_on()

    def _call(self, what: str, function: Any) -> Any:
        """Calls the environment; its errors name it."""
        try:
            with self._rendering.guard(self.env.unwrapped):
                return function()
        except AecError:
            raise
        except Exception as error:  # an environment can raise anything
            raise AecError(f"{self.name}: {what} raised {type(error).__name__}: {error}") from error

    def _go_on(self) -> None:
        """Takes finished agents out until one is to move, and reads its legal actions."""
        self._call("step(None)", self._leave)
        self._seen: dict[Any, Any] = {}
        self.mover = self._call("agent_selection", lambda: self.env.agent_selection) if self._is_running() else None
        self.legal = self._legal() if self.mover is not None else ()

    def _is_done(self, agent: Any) -> bool:
        env = self.env
        return bool(env.terminations[agent] or env.truncations[agent])

    def _is_running(self) -> bool:
        return self._call("terminations", lambda: not all(map(self._is_done, self.env.agents)))

    def _leave(self) -> None:
        env = self.env
        for _ in range(len(self._received)):
            if not self._is_running() or not self._is_done(env.agent_selection):
                return
            agent = env.agent_selection
            self._last[agent] = env.observe(agent)
            self._received[agent] += float(env._cumulative_rewards[agent])
            env.step(None)

    def _legal(self) -> tuple[int, ...]:
        space = self._call("action_space", lambda: self.env.action_space(self.mover))
        if not isinstance(space, spaces.Discrete) or space.start != 0:
            raise AecError(f"{self.name}: expected a Discrete action space that begins with 0, got {space}")
        if not self._masked:
            return tuple(range(int(space.n)))
        seen = self.observe(self.mover)
        mask = seen.get("action_mask") if isinstance(seen, Mapping) else None
        if mask is None:
            mask = self._call("infos", lambda: self.env.infos[self.mover].get("action_mask"))
        if mask is None:
            raise AecError(f"{self.name}: expected an action_mask in the observation or in infos of {self.mover!r}")
        found = np.asarray(mask)
        if found.shape != (space.n,):
            raise AecError(f"{self.name}: expected an action_mask of {space.n} numbers, got the shape {found.shape}")
        legal = tuple(map(int, np.flatnonzero(found)))
        if not legal:
            raise AecError(f"{self.name}: expected a legal action in the action_mask of {self.mover!r}, got only zeros")
        return legal

    def observe(self, agent: Any) -> Any:
        """Returns the observation of an agent: the last one if it has left."""
        if agent not in self._seen:
            env = self.env
            if agent in self._last:
                self._seen[agent] = self._last[agent]
            else:
                self._seen[agent] = self._call(f"observe({agent!r})", lambda: env.observe(agent))
        return self._seen[agent]

    def rendered(self) -> str:
        """Returns the environment's own text of the position."""
        return str(self._call("render()", self.env.render))

    def step(self, action: int) -> None:
        """Plays a legal action of the agent to move."""
        env, mover = self.env, self.mover
        received = self._call("_cumulative_rewards", lambda: float(env._cumulative_rewards[mover]))
        self._received[mover] += received
        self._call(f"step({action})", lambda: env.step(action))
        self._go_on()

    def totals(self) -> tuple[float, ...]:
        """Returns the reward of each agent from the beginning of the match."""
        pending = self._call("_cumulative_rewards", lambda: dict(self.env._cumulative_rewards))
        return tuple([received + float(pending.get(agent, 0.0)) for agent, received in self._received.items()])

    def clone(self) -> Self:
        """Returns an independent match in the same position, for environments whose attributes can be copied."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        with self._rendering.guard(self.env):
            twin.env = _copy_of(self.env, {})
        twin._received, twin._last, twin._seen = dict(self._received), dict(self._last), dict(self._seen)
        return twin


def _copy_of(env: AECEnv, memo: dict[int, Any]) -> AECEnv:
    """Copies the attributes of an environment; its own copy would be a new environment, because of ``EzPickle``."""
    twin = object.__new__(type(env))
    for name, value in env.__dict__.items():
        if name in _SHARED:
            memo[id(value)] = value
        twin.__dict__[name] = _copy_of(value, memo) if isinstance(value, AECEnv) else deepcopy(value, memo)
    return twin
