from tianshou.algorithm import DQN, MARLRandomDiscreteMaskedOffPolicyAlgorithm, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.utils.net.common import Net

from llmarena_envs import tictactoe_v0


def make() -> PettingZooEnv:
    return PettingZooEnv(tictactoe_v0.env(obs_type="vector"))


env = make()
net = Net(state_shape=(3, 3, 2), action_shape=9, hidden_sizes=[64])
policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.1)
learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=320)
opponent = MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space)
both = MultiAgentOffPolicyAlgorithm(algorithms=[opponent, learner], env=env)
collector = Collector(both, DummyVectorEnv([make] * 2), VectorReplayBuffer(1000, 2), exploration_noise=True)
collector.reset()
print(collector.collect(n_episode=10).returns[:, 1].mean())
