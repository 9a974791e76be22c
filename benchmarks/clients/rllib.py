"""RLlib: PPO on its own wrappers of PettingZoo, with masks."""

import math
from typing import Any

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
from ray.tune.registry import register_env

from benchmarks.clients.games import ALL, PARALLEL, TEXT, VECTOR, Make
from benchmarks.clients.trials import Trial

_ILLEGAL = -1e9


class MaskedNetwork(TorchRLModule, ValueFunctionAPI):
    """A network over the flat observation that gives no weight to illegal actions."""

    def setup(self) -> None:
        """Makes the layers."""
        space = self.observation_space
        self.size = math.prod(space["observation"].shape) if hasattr(space, "spaces") else int(space.n)
        self.body = torch.nn.Sequential(torch.nn.Linear(self.size, 64), torch.nn.Tanh())
        self.policy = torch.nn.Linear(64, int(self.action_space.n))
        self.value = torch.nn.Linear(64, 1)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        logits = self.policy(self._embed(batch))
        observation = batch[Columns.OBS]
        if isinstance(observation, dict):
            logits = logits.masked_fill(observation["action_mask"] == 0, _ILLEGAL)
        return {Columns.ACTION_DIST_INPUTS: logits}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Estimates what positions are worth."""
        return self.value(self._embed(batch)).squeeze(-1)

    def _embed(self, batch: dict[str, Any]) -> Any:
        observation = batch[Columns.OBS]
        numbers = observation["observation"] if isinstance(observation, dict) else observation
        if numbers.ndim == 1:  # PettingZoo's rock-paper-scissors shows one number
            numbers = torch.nn.functional.one_hot(numbers.long(), self.size)
        return self.body(numbers.flatten(1).float())


def _train(wrapper: Any, make: Make, smoke: bool, network: type[Any] | None = MaskedNetwork) -> None:
    """Trains one policy for all agents, with RLlib's own network if none is given."""
    register_env("client", lambda _: wrapper(make()))
    steps = 100 if smoke else 500
    algorithm = (
        PPOConfig()
        .environment("client")
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=network))
        .training(train_batch_size=steps, minibatch_size=50, num_epochs=1)
        .debugging(seed=0, log_level="ERROR")
        .build_algo()
    )
    try:
        result = algorithm.train()["env_runners"]
        assert result["num_episodes"] > 0, "no match was finished"
    finally:
        algorithm.stop()


def turn_by_turn(make: Make, smoke: bool) -> None:
    """Trains through ``PettingZooEnv``."""
    _train(PettingZooEnv, make, smoke)


def at_once(make: Make, smoke: bool) -> None:
    """Trains through ``ParallelPettingZooEnv``."""
    _train(ParallelPettingZooEnv, make, smoke)


def own_network(make: Make, smoke: bool) -> None:
    """Trains through ``PettingZooEnv`` with RLlib's own network."""
    _train(PettingZooEnv, make, smoke, None)


TRIALS = (
    Trial("PettingZooEnv, PPO with masks", VECTOR, turn_by_turn),
    Trial("ParallelPettingZooEnv, PPO with masks", PARALLEL, at_once),
    Trial("PettingZooEnv, PPO with its own network", TEXT, own_network, refuses=ALL),
)
