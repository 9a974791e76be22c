from typing import Any

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from llmarena_envs import connect_four_v0


class MaskedNetwork(TorchRLModule, ValueFunctionAPI):
    def setup(self) -> None:
        self.body = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(6 * 7 * 2, 64), torch.nn.Tanh())
        self.policy = torch.nn.Linear(64, 7)
        self.value = torch.nn.Linear(64, 1)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        logits = self.policy(self.body(batch["obs"]["observation"].float()))
        return {"action_dist_inputs": logits.masked_fill(batch["obs"]["action_mask"] == 0, -1e9)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        return self.value(self.body(batch["obs"]["observation"].float())).squeeze(-1)


register_env("connect_four", lambda _: PettingZooEnv(connect_four_v0.env(obs_type="vector")))
algorithm = (
    PPOConfig()
    .environment("connect_four")
    .env_runners(num_env_runners=0)
    .multi_agent(policies={"both"}, policy_mapping_fn=lambda *_, **__: "both")
    .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedNetwork))
    .training(train_batch_size=200, minibatch_size=50, num_epochs=1)
    .build_algo()
)
print(algorithm.train()["env_runners"]["num_episodes"])
algorithm.stop()
