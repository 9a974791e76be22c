"""A small AEC environment: players leave during the match, masks are in infos, and every turn has a reward."""

from typing import ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv


class raw_env(AECEnv):
    """Each player draws 1 to 3 from a pile of its own, whose size is drawn by the seed, and leaves when it is empty."""

    metadata: ClassVar = {"name": "elimination_v0", "render_modes": ["ansi"]}

    def __init__(self, players: int = 3, render_mode: str | None = None) -> None:
        super().__init__()
        if players < 2:
            raise ValueError("too few players")
        self.possible_agents = [f"player_{index}" for index in range(players)]
        self.render_mode = render_mode

    def observation_space(self, agent):
        return spaces.Box(0, 100, (1,), np.int64)

    def action_space(self, agent):
        return spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        rng, _ = gymnasium.utils.seeding.np_random(seed)
        self.agents = self.possible_agents[:]
        self.piles = {agent: int(rng.integers(2, 9)) for agent in self.agents}
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: self._info(agent) for agent in self.agents}
        self.agent_selection = self.agents[0]

    def _info(self, agent):
        return {"action_mask": np.arange(3) < self.piles[agent]}

    def observe(self, agent):
        return np.array([self.piles[agent]])

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self.piles[agent] -= action + 1
        self.rewards[agent] = action + 1
        for other in self.agents:
            if other != agent:
                self.rewards[other] = -0.5
        self.infos[agent] = self._info(agent)
        self.terminations[agent] = self.piles[agent] == 0
        self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self):
        return f"piles: {list(self.piles.values())}"


def env(**options):
    return raw_env(**options)
