from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv

from llmarena_envs import tictactoe_v0


class OneSeat(gymnasium.Env[dict[str, Any], int]):
    """Player 0; player 1 moves at random."""

    def __init__(self) -> None:
        self.env = tictactoe_v0.env()
        self.observation_space = self.env.observation_space("player_0")
        self.action_space = self.env.action_space("player_0")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.env.reset(seed=seed)
        return self.env.observe("player_0"), {}

    def step(self, action: int) -> Any:
        self.env.step(action)
        if not self.env.terminations["player_0"]:
            mask = self.env.observe("player_1")["action_mask"]
            self.env.step(self.np_random.choice(np.flatnonzero(mask)))
        over = self.env.terminations["player_0"]
        return self.env.observe("player_0"), self.env._cumulative_rewards["player_0"], over, False, {}


envs = AsyncVectorEnv([OneSeat] * 2, shared_memory=False)  # texts have no place in shared memory
observations, infos = envs.reset(seed=0)
for _ in range(10):
    actions = np.array([mask.argmax() for mask in observations["action_mask"]])
    observations, rewards, terminations, truncations, infos = envs.step(actions)
print(observations["text"][0])
envs.close()
