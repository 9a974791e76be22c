import dm_env
import numpy as np

from llmarena_envs import connect_four_v0

env = connect_four_v0.env(obs_type="vector")
env.reset(seed=0)
step = dm_env.restart(env.observe(env.agent_selection))
while not step.last():
    mover = env.agent_selection
    env.step(np.flatnonzero(step.observation["action_mask"])[0])
    end = dm_env.termination if env.terminations[mover] else dm_env.transition
    step = end(env.rewards[mover], env.observe(env.agent_selection))
print(step.reward)
