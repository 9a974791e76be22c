"""Failed replies never earn a player more than its own."""

import importlib

import numpy as np
import pytest

from agents.baselines.default_opponents import default_opponent
from agents.play import play
from agents.policy import Reply
from agents.registry import make_policy
from agents.turn import TurnSettings
from llmarena_envs import public_goods_v0
from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.failures import Failure

RATE = 0.4
SLOW = ("holdem_v0", "writer_editor_v0")


class Failing:
    """A policy that declines to answer in some of its turns."""

    def __init__(self, policy, rate):
        self._policy, self._rate, self.reads = policy, rate, policy.reads

    def reset(self, agent, seed):
        self._policy.reset(agent, seed)
        self._rng = np.random.default_rng(seed)

    def __call__(self, observation):
        said = self._policy(observation)
        return Reply("I cannot answer.", Failure.REFUSAL) if self._rng.random() < self._rate else said


def settings_of(env):
    declared = env.unwrapped.declaration
    return TurnSettings(reasks=0, unparsable=declared.unparsable, illegal=declared.illegal)


def earned(name, agent, rate, seed):
    """Returns an agent's rewards among the game's usual baselines."""
    env_class = importlib.import_module(f"llmarena_envs.{name}").raw_env
    env = importlib.import_module(f"llmarena_envs.{name}").env(**env_class.declaration.rated_options)
    policies = {each: make_policy(default_opponent(name, each), name) for each in env.possible_agents}
    policies[agent] = Failing(policies[agent], rate)
    return play(env, policies, seed, settings_of(env)).rewards[agent]


def rated_agents(name):
    env_class = importlib.import_module(f"llmarena_envs.{name}").raw_env
    rated = env_class.declaration.rated_roles
    agents = env_class(**env_class.declaration.rated_options).possible_agents
    return [agent for agent in agents if not rated or role_of(agent) in rated]


@pytest.mark.slow_except(3)
@pytest.mark.parametrize(
    "name", [pytest.param(each.name, marks=pytest.mark.slow) if each.name in SLOW else each.name for each in CATALOGUE]
)
def test_failing_replies_earn_no_more_than_clean_ones(name):
    agents = rated_agents(name)
    gains = []
    for seed in range(12):
        agent = agents[seed % len(agents)]
        gains.append(earned(name, agent, RATE, seed) - earned(name, agent, 0.0, seed))
    assert np.mean(gains) <= 2 * np.std(gains) / len(gains) ** 0.5


def invested(policy, seeds):
    """Returns what ``policy`` invests and earns beside three players who keep everything."""
    amounts, rewards = [], []
    for seed in seeds:
        env = public_goods_v0.env()
        policies = {agent: make_policy("free_rider", "public_goods_v0") for agent in env.possible_agents}
        rewards.append(play(env, {**policies, "player_2": policy}, seed, settings_of(env)).rewards["player_2"])
        amounts += [row[2] for row in env.unwrapped.game.investments]
    return amounts, np.mean(rewards)


def test_fallback_of_public_goods_is_a_random_amount():
    amounts, paid = invested(Failing(make_policy("full_contributor", "public_goods_v0"), 1.0), range(45))
    assert set(amounts) == set(range(11)) and abs(np.mean(amounts) - 5) < 0.5
    assert invested(Failing(make_policy("full_contributor", "public_goods_v0"), 1.0), range(45)) == (amounts, paid)
    assert invested(make_policy("full_contributor", "public_goods_v0"), [0])[1] < paid
    assert paid < invested(make_policy("free_rider", "public_goods_v0"), [0])[1]
