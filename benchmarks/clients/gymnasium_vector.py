"""Gymnasium's vector environments, over one seat of a match whose other seats move at random."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics

from benchmarks.clients.games import ALL, TEXT, VECTOR, Make
from benchmarks.clients.trials import Trial


class OneSeat(gymnasium.Env[Any, Any]):
    """The first seat of an AEC environment; the others play samples of their action spaces.

    Args:
        make: makes the environment.
    """

    metadata: dict[str, Sequence[str]] = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(self, make: Make) -> None:
        self.env = make()
        self.seat = self.env.possible_agents[0]
        self.observation_space = self.env.observation_space(self.seat)
        self.action_space = self.env.action_space(self.seat)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a match and plays up to the seat's turn."""
        super().reset(seed=seed)
        self.env.reset(seed=seed)
        for number, agent in enumerate(self.env.possible_agents):
            self.env.action_space(agent).seed(None if seed is None else seed + number)
        self._play_others()
        while self._over():  # before it was the seat's turn, e.g. by a fold
            self.env.reset()
            self._play_others()
        return self.env.observe(self.seat), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Acts for the seat and plays up to its next turn."""
        if self._over():
            raise gymnasium.error.ResetNeeded("the match is over")
        self.env.step(action)
        self._play_others()
        reward = float(self.env._cumulative_rewards[self.seat])
        return self.env.observe(self.seat), reward, self._over(), False, {}

    def _over(self) -> bool:
        return bool(self.env.terminations[self.seat] or self.env.truncations[self.seat])

    def _play_others(self) -> None:
        while not self._over() and self.env.agent_selection != self.seat:
            agent = self.env.agent_selection
            observation = self.env.observe(agent)
            self.env.step(self.env.action_space(agent).sample(observation.get("action_mask")))


def checker(make: Make, smoke: bool) -> None:
    """Gymnasium's checker of environments."""
    check_env(OneSeat(make), skip_render_check=True, skip_close_check=True)


def _step_vector(env: Any, steps: int) -> None:
    observations, _ = env.reset(seed=0)
    for _ in range(steps):
        masks = observations.get("action_mask")
        first_legal = None if masks is None else np.array([int(np.argmax(mask)) for mask in masks])
        observations, _, _, _, _ = env.step(env.action_space.sample() if first_legal is None else first_legal)


def one_process(make: Make, smoke: bool) -> None:
    """Copies in one process, with records of episodes."""
    env = SyncVectorEnv([lambda: RecordEpisodeStatistics(OneSeat(make))] * 2)
    _step_vector(env, 20)
    env.close()


def processes(make: Make, smoke: bool, shared_memory: bool) -> None:
    """Copies in processes of their own."""
    env = AsyncVectorEnv([partial(OneSeat, make)] * 2, shared_memory=shared_memory)
    try:
        _step_vector(env, 20)
    finally:
        env.close(terminate=True)


TRIALS = (
    Trial("check_env", VECTOR, checker),
    Trial("check_env", TEXT, checker),
    Trial("SyncVectorEnv", VECTOR, one_process),
    Trial("SyncVectorEnv", TEXT, one_process),
    Trial("AsyncVectorEnv", VECTOR, partial(processes, shared_memory=True)),
    Trial("AsyncVectorEnv", TEXT, partial(processes, shared_memory=True), refuses=ALL),
    Trial("AsyncVectorEnv(shared_memory=False)", TEXT, partial(processes, shared_memory=False)),
)
