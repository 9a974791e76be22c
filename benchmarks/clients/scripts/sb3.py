from typing import Any

import gymnasium
from pettingzoo.utils import BaseWrapper
from sb3_contrib import MaskablePPO

from llmarena_envs import connect_four_v0


class OneLearner(BaseWrapper, gymnasium.Env[Any, Any]):
    """One policy for both seats: it observes as the agent to move, and gets the reward of the agent that moved."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.observation_space = self.env.observation_space("player_0")["observation"]
        self.action_space = self.env.action_space("player_0")
        return self.observe(self.agent_selection), {}

    def step(self, action: int) -> Any:
        mover = self.agent_selection
        super().step(action)
        return self.observe(self.agent_selection), self.rewards[mover], self.terminations[mover], False, {}

    def observe(self, agent: str) -> Any:
        return super().observe(agent)["observation"]

    def action_masks(self) -> Any:
        return super().observe(self.agent_selection)["action_mask"]


env = OneLearner(connect_four_v0.env(obs_type="vector"))
env.reset(seed=0)
model = MaskablePPO("MlpPolicy", env, n_steps=128, device="cpu", seed=0, verbose=1)
model.learn(256)
