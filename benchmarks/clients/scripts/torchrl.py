from torchrl.envs import PettingZooWrapper, check_env_specs

from llmarena_envs import public_goods_v0, tictactoe_v0

env = PettingZooWrapper(tictactoe_v0.env(obs_type="vector"), use_mask=True)
check_env_specs(env)
print(env.rollout(20, break_when_any_done=False)["player_0", "observation", "observation"].shape)

together = PettingZooWrapper(public_goods_v0.parallel_env(obs_type="vector"))
check_env_specs(together)
print(together.rollout(5)["next", "player", "reward"].shape)
