"""Tianshou: a Q-learner and random players by its multi-agent classes, as in its test on PettingZoo's tic-tac-toe."""

import numpy as np
import torch
from tianshou.algorithm import DQN, MARLRandomDiscreteMaskedOffPolicyAlgorithm, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from benchmarks.clients.games import ALL, TEXT, VECTOR, Make
from benchmarks.clients.trials import Trial


def q_learning(make: Make, smoke: bool) -> None:
    """Trains the last seat against random players."""
    np.random.seed(0)  # noqa: NPY002 - Tianshou draws from NumPy's global generator
    torch.manual_seed(0)
    env = PettingZooEnv(make())
    observations = env.observation_space
    net = Net(
        state_shape=observations["observation"].shape if hasattr(observations, "spaces") else observations.shape,
        action_shape=int(env.action_space.n),
        hidden_sizes=[64],
    )
    learner = DQN(
        policy=DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.1, eps_inference=0.05),
        optim=AdamOptimizerFactory(lr=1e-3),
        n_step_return_horizon=3,
        gamma=0.9,
        target_update_freq=320,
    )
    others = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in env.agents[1:]]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[*others, learner], env=env)
    vectors = [DummyVectorEnv([lambda: PettingZooEnv(make())] * 2) for _ in range(2)]
    for vector in vectors:
        vector.seed(0)
    training = Collector[CollectStats](algorithm, vectors[0], VectorReplayBuffer(1000, 2), exploration_noise=True)
    testing = Collector[CollectStats](algorithm, vectors[1], exploration_noise=True)
    training.reset()
    training.collect(n_step=64)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=training,
            test_collector=testing,
            max_epochs=1,
            epoch_num_steps=40 if smoke else 400,
            collection_step_num_env_steps=20,
            test_step_num_episodes=2,
            batch_size=32,
            update_step_num_gradient_steps_per_sample=0.1,
            test_in_training=False,
            multi_agent_return_reduction=lambda returns: returns[:, -1],
        )
    )


TRIALS = (
    Trial("PettingZooEnv, DQN against random players", VECTOR, q_learning),
    Trial("PettingZooEnv, DQN against random players", TEXT, q_learning, refuses=ALL),
)
