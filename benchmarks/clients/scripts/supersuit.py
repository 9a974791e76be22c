import numpy as np
import supersuit

from llmarena_envs import connect_four_v0, public_goods_v0

env = connect_four_v0.env(obs_type="vector")
env = supersuit.observation_lambda_v0(env, lambda seen, _: seen["observation"], lambda space: space["observation"])
env = supersuit.frame_stack_v1(supersuit.flatten_v0(env), 4)
env.reset(seed=0)
print(env.observe("player_0").shape)

envs = supersuit.pettingzoo_env_to_vec_env_v1(public_goods_v0.parallel_env(obs_type="vector"))
envs = supersuit.concat_vec_envs_v1(envs, 2, base_class="gymnasium")
envs.reset(seed=0)
observations, rewards, terminations, truncations, infos = envs.step(np.zeros(envs.num_envs, dtype=np.int64))
