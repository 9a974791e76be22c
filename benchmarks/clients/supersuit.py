"""SuperSuit: wrappers of observations and rewards, vector environments."""

import numpy as np
import supersuit

from benchmarks.clients.games import PARALLEL, TEXT, VECTOR, Make
from benchmarks.clients.loops import step_randomly
from benchmarks.clients.trials import Trial


def rewards(make: Make, smoke: bool) -> None:
    """Wrappers that change rewards and steps."""
    env = supersuit.reward_lambda_v0(make(), lambda reward: 2 * reward)
    step_randomly(supersuit.clip_reward_v0(env), 50)


def numbers_only(make: Make, smoke: bool) -> None:
    """Wrappers of numeric observations, once the mask is taken out of them."""
    masked = make()
    env = supersuit.observation_lambda_v0(
        masked,
        lambda observation, space: observation["observation"],
        lambda space: space["observation"],
    )
    env = supersuit.dtype_v0(env, np.dtype("float32"))
    env = supersuit.flatten_v0(env)
    env = supersuit.frame_stack_v1(env, 2)
    env = supersuit.agent_indicator_v0(env)
    env.reset(seed=0)
    for agent in env.agent_iter(20):
        observation, _, termination, truncation, _ = env.last()
        assert env.observation_space(agent).contains(observation), "the observation is outside its space"
        mask = masked.observe(agent)["action_mask"]
        env.step(None if termination or truncation else env.action_space(agent).sample(mask))


def flat_dict(make: Make, smoke: bool) -> None:
    """``flatten_v0`` on the observation as it is, mask and all."""
    step_randomly(supersuit.flatten_v0(make()), 50)


def vectors(make: Make, smoke: bool) -> None:
    """Copies of a parallel environment side by side, in one process and in two."""
    for processes in (0, 2):
        env = supersuit.pettingzoo_env_to_vec_env_v1(make())
        env = supersuit.concat_vec_envs_v1(env, 2, num_cpus=processes, base_class="gymnasium")
        env.reset(seed=0)
        for _ in range(20):
            env.step(np.zeros(env.num_envs, dtype=np.int64))
        env.close()


TRIALS = (
    Trial("reward_lambda, clip_reward", VECTOR, rewards),
    Trial("reward_lambda, clip_reward", TEXT, rewards),
    Trial("observation_lambda, dtype, flatten, frame_stack, agent_indicator", VECTOR, numbers_only),
    Trial("flatten on observations with a mask", VECTOR, flat_dict),
    Trial("pettingzoo_env_to_vec_env, concat_vec_envs", PARALLEL, vectors),
)
