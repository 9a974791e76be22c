from pettingzoo.test import api_test, seed_test

from llmarena_envs import connect_four_v0

env = connect_four_v0.env(obs_type="vector")
api_test(env)
seed_test(connect_four_v0.env)

env.reset(seed=0)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    if termination or truncation:
        env.step(None)
    else:
        env.step(env.action_space(agent).sample(observation["action_mask"]))
