"""AgileRL: DQN in the loop of PettingZoo's tutorial, and its multi-agent PPO."""

from typing import Any

import numpy as np
import torch
from agilerl.algorithms import DQN, IPPO
from agilerl.components.data import Transition
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv
from gymnasium.spaces import Box
from numpy.typing import NDArray
from pettingzoo.utils import BaseParallelWrapper

from benchmarks.clients.games import ALL, PARALLEL, VECTOR, Make
from benchmarks.clients.trials import Trial

_NETWORK = {"encoder_config": {"hidden_size": [64]}, "head_config": {"hidden_size": [32]}}


def _flat(observation: Any) -> NDArray[np.float32]:
    return np.asarray(observation["observation"], dtype=np.float32).ravel()


def _box(size: int) -> Box:
    return Box(-np.inf, np.inf, (size,), np.float32)


def self_play(make: Make, smoke: bool) -> None:
    """A Q-learner that plays all seats and learns from each seat's observations, actions and rewards."""
    torch.manual_seed(0)
    env = make()
    env.reset(seed=0)
    first = env.possible_agents[0]
    size = _flat(env.observe(first)).size
    learner = DQN(_box(size), env.action_space(first), batch_size=16, net_config=_NETWORK)
    memory = ReplayBuffer(1000)
    for match in range(4 if smoke else 40):
        _play_match(env, learner, memory, match)
        if len(memory) >= 16:
            learner.learn(memory.sample(16))


def _play_match(env: Any, learner: Any, memory: Any, seed: int) -> None:
    before: dict[str, tuple[NDArray[np.float32], int]] = {}
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        seen, done = _flat(observation), termination or truncation
        if agent in before:
            memory.add(_transition(*before[agent], seen, reward, done))
        if done:
            env.step(None)
            continue
        action = int(learner.get_action(seen[None], epsilon=0.3, action_mask=observation["action_mask"][None])[0])
        before[agent] = seen, action
        env.step(action)


def _transition(seen: Any, action: int, after: Any, reward: float, done: bool) -> Any:
    transition = Transition(
        obs=seen, action=np.array(action), next_obs=after, reward=np.float32(reward), done=float(done)
    )
    transition = transition.unsqueeze(0)
    transition.batch_size = [1]
    return transition.to_tensordict()


class NumbersAlone(BaseParallelWrapper):
    """Takes each agent's mask out of its observation and, as a list, into its info, where AgileRL looks for it.

    Args:
        env: a parallel environment.
        masks: whether the infos get the masks.
    """

    def __init__(self, env: Any, masks: bool) -> None:
        super().__init__(env)
        self.masks = masks

    def observation_space(self, agent: str) -> Any:
        """Returns the space without the mask."""
        space = super().observation_space(agent)
        return space["observation"] if hasattr(space, "spaces") else space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begins a match."""
        return self._split(*super().reset(seed=seed, options=options))

    def step(self, actions: dict[str, Any]) -> Any:
        """Acts for every agent."""
        observations, rewards, terminations, truncations, infos = super().step(actions)
        observations, infos = self._split(observations, infos)
        return observations, rewards, terminations, truncations, infos

    def _split(self, observations: dict[str, Any], infos: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        if not all(isinstance(observation, dict) for observation in observations.values()):
            return observations, infos
        numbers = {agent: observation["observation"] for agent, observation in observations.items()}
        if not self.masks:
            return numbers, infos
        masks = {agent: observation["action_mask"].tolist() for agent, observation in observations.items()}
        return numbers, {agent: {**infos[agent], "action_mask": mask} for agent, mask in masks.items()}


def as_it_is(make: Make, smoke: bool) -> None:
    """Multi-agent PPO asked for actions on the observations as they are."""
    env = make()
    observations, infos = env.reset(seed=0)
    _ppo(env).get_action(observations, infos)


def with_masks(make: Make, smoke: bool) -> None:
    """Multi-agent PPO plays matches with the masks in the infos."""
    env = NumbersAlone(make(), masks=True)
    learner = _ppo(env)
    for seed in range(2):
        observations, infos = env.reset(seed=seed)
        while env.agents:
            actions, *_ = learner.get_action(observations, infos)
            moves = {agent: int(np.ravel(actions[agent])[0]) for agent in env.agents}
            observations, _, _, _, infos = env.step(moves)
            assert not any(info.get("illegal") for info in infos.values()), "an illegal action was played"


def without_masks(make: Make, smoke: bool) -> None:
    """Multi-agent PPO learns from two copies in processes of their own, which forfeit matches by illegal actions."""
    learner = _ppo(NumbersAlone(make(), masks=False))
    env = AsyncPettingZooVecEnv([lambda: NumbersAlone(make(), masks=False)] * 2)
    try:
        for seed in range(1 if smoke else 5):
            _learn(learner, env, seed)
    finally:
        env.close()


def _ppo(env: Any) -> Any:
    agents = env.possible_agents
    return IPPO(
        [env.observation_space(agent) for agent in agents],
        [env.action_space(agent) for agent in agents],
        agent_ids=agents,
        batch_size=8,
        update_epochs=1,
    )


def _learn(learner: Any, env: Any, seed: int) -> None:
    names = ("states", "actions", "log_probs", "rewards", "dones", "values")
    agents = env.agents
    columns: dict[str, dict[str, list[Any]]] = {name: {agent: [] for agent in agents} for name in names}
    observations, infos = env.reset(seed=seed)
    done = {agent: np.zeros(env.num_envs) for agent in agents}
    for _ in range(10):
        actions, log_probs, _, values = learner.get_action(observations, infos)
        following, rewards, terminations, truncations, infos = env.step(actions)
        for agent in agents:
            entries = (
                observations[agent],
                actions[agent],
                log_probs[agent],
                rewards[agent],
                done[agent],
                values[agent],
            )
            for name, entry in zip(names, entries, strict=True):
                columns[name][agent].append(entry)
        done = {agent: np.logical_or(terminations[agent], truncations[agent]).astype(np.int8) for agent in agents}
        observations = following
    learner.learn((*columns.values(), observations, done))


TRIALS = (
    Trial("DQN in self-play", VECTOR, self_play),
    Trial("IPPO", PARALLEL, as_it_is, refuses=ALL),
    Trial("IPPO, masks moved to the infos as lists", PARALLEL, with_masks),
    Trial("IPPO over AsyncPettingZooVecEnv, masks left out", PARALLEL, without_masks),
)
