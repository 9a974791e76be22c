import numpy as np
from agilerl.algorithms import DQN
from agilerl.components.data import Transition
from agilerl.components.replay_buffer import ReplayBuffer
from gymnasium.spaces import Box

from llmarena_envs import connect_four_v0

env = connect_four_v0.env(obs_type="vector")
learner = DQN(Box(0, 1, (84,), np.float32), env.action_space("player_0"), batch_size=16)
memory = ReplayBuffer(1000)
before: dict[str, tuple[np.ndarray, int]] = {}
env.reset(seed=0)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    seen = observation["observation"].ravel().astype(np.float32)
    if agent in before:
        state, action = before[agent]
        step = Transition(obs=state, action=np.array(action), next_obs=seen, reward=reward, done=float(termination))
        step = step.unsqueeze(0)
        step.batch_size = [1]
        memory.add(step.to_tensordict())
    if termination:
        env.step(None)
        continue
    action = int(learner.get_action(seen[None], epsilon=0.3, action_mask=observation["action_mask"][None])[0])
    before[agent] = seen, action
    env.step(action)
print(np.array(env.env.board).reshape(6, 7), learner.learn(memory.sample(16)))
