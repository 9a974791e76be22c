"""Stable-Baselines3 and its contributions: one learner for all seats, in the manner of PettingZoo's tutorials."""

from typing import Any

import gymnasium
import supersuit
from numpy.typing import NDArray
from pettingzoo.utils import BaseWrapper
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3 import PPO

from benchmarks.clients.games import PARALLEL, VECTOR, Make
from benchmarks.clients.trials import Trial


class OneLearner(BaseWrapper, gymnasium.Env[Any, Any]):
    """An AEC environment with Gymnasium's interface: observations are the next agent's, rewards the mover's.

    It inherits from both and has spaces as attributes, as the wrapper in PettingZoo's tutorial for connect four does.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begins a match."""
        super().reset(seed=seed, options=options)
        first = self.possible_agents[0]
        self.observation_space = self.env.observation_space(first)["observation"]
        self.action_space = self.env.action_space(first)
        return self.observe(self.agent_selection), {}

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Acts for the agent to act."""
        mover = self.agent_selection
        super().step(action)
        return (
            self.observe(self.agent_selection),
            self._cumulative_rewards[mover],
            self.terminations[mover],
            self.truncations[mover],
            self.infos[mover],
        )

    def observe(self, agent: str) -> NDArray[Any]:
        """Returns the observation without its mask."""
        return super().observe(agent)["observation"]

    def action_mask(self) -> NDArray[Any]:
        """Returns the legal actions of the agent to act."""
        return super().observe(self.agent_selection)["action_mask"]


def self_play(make: Make, smoke: bool) -> None:
    """Trains one masked policy for all seats, then lets it meet random players."""
    learner = OneLearner(make())
    learner.reset(seed=0)
    env = ActionMasker(learner, OneLearner.action_mask)
    steps = 64 if smoke else 512
    model = MaskablePPO("MlpPolicy", env, n_steps=steps, batch_size=64, seed=0, device="cpu")
    model.learn(steps)
    _meet_random(model, make(), 2 if smoke else 20)


def _meet_random(model: Any, env: Any, matches: int) -> None:
    for seed in range(matches):
        env.reset(seed=seed)
        learner = env.possible_agents[seed % len(env.possible_agents)]
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            numbers, mask = observation.values()  # the tutorial relies on this order
            if termination or truncation:
                action = None
            elif agent == learner:
                action = int(model.predict(numbers, action_masks=mask, deterministic=True)[0])
            else:
                action = env.action_space(agent).sample(mask)
            env.step(action)


def parallel_training(make: Make, smoke: bool) -> None:
    """Trains one policy for all agents through SuperSuit's vector environments; masks are not used."""
    vectors = supersuit.pettingzoo_env_to_vec_env_v1(make())
    env = supersuit.concat_vec_envs_v1(vectors, 2, num_cpus=1, base_class="stable_baselines3")
    policy = "MultiInputPolicy" if hasattr(env.observation_space, "spaces") else "MlpPolicy"
    steps = 16 if smoke else 256
    PPO(policy, env, n_steps=steps, batch_size=64, device="cpu").learn(steps * env.num_envs)


TRIALS = (
    Trial("MaskablePPO in self-play, matches against random players", VECTOR, self_play),
    Trial("PPO over SuperSuit's vector environments", PARALLEL, parallel_training),
)
