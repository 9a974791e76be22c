"""Bargaining as a PettingZoo environment."""

import numpy as np
import pytest
from gymnasium.spaces import Discrete

from llmarena_envs import bargain_v0
from llmarena_envs.bargain.game import Bargain, Deal
from llmarena_envs.bargain.scenarios import all_plans
from llmarena_envs.testing import check_environment
from tests.llmarena_envs.option_sets.bargain_v0 import INSTANCE


class AgreeableBargain(Bargain):
    """Random play that accepts now and then, to test agreements as well."""

    def random_action(self, agent, rng):
        if self.offers and rng.random() < 0.2:
            return Deal()
        return super().random_action(agent, rng)


def agreeable_env(**options):
    env = bargain_v0.env(**options)
    env.unwrapped.game.__class__ = AgreeableBargain
    return env


@pytest.mark.slow
@pytest.mark.parametrize("obs_type", ["text", pytest.param("vector", marks=pytest.mark.slow)])
def test_conformance_of_matches_with_agreements(obs_type):
    check_environment(agreeable_env, options={"obs_type": obs_type}, seeds=range(4))


@pytest.mark.parametrize("agent", ["player_0", "player_1"])
def test_observations_do_not_depend_on_the_other_sides_values(agent):
    other = [[1, 2, 3], [8, 1, 0], [2, 1, 2]] if agent == "player_0" else [[1, 2, 3], [2, 1, 2], [4, 0, 2]]
    for obs_type in ("text", "vector"):
        observed = []
        for instance in (INSTANCE, other):
            env = bargain_v0.env(instance=instance, obs_type=obs_type, max_rounds=2)
            env.reset(seed=0)
            seen = []
            for reply in (
                "player_0: 1 hats 1 balls 0 apples",
                "player_1: 1 hats",
                "player_0: 2 balls",
                "player_1: Deal",
            ):
                env.step(env.unwrapped.parse(reply, env.agent_selection))
                seen += [repr(env.observe(agent)), repr({**env.infos[agent], "difference": 0, "efficient": 0})]
            observed.append(seen)
        assert observed[0] == observed[1]


def test_a_match_in_text():
    env = bargain_v0.env(instance=INSTANCE)
    env.reset(seed=0)
    env.step(env.unwrapped.parse("Hello!\nplayer_0: 1 hat, 2 balls", "player_0"))
    assert "> Hello!" in env.observe("player_1")["text"]
    env.step(env.unwrapped.parse("player_1: deal", "player_1"))
    assert env.rewards == {"player_0": 10.0, "player_1": 6.0}
    assert env.infos["player_1"] == {
        "illegal": 0,
        "own_total": 6.0,
        "difference": -4.0,
        "agreement": 1.0,
        "efficient": 1.0,
        "disclosed": 0.0,
    }


@pytest.mark.parametrize(("source", "size"), [("openspiel", 97), ("lewis", 85)])
def test_vector_actions_are_the_plans_and_deal(source, size):
    env = bargain_v0.raw_env(obs_type="vector", source=source, instance=INSTANCE)
    env.reset(seed=0)
    assert env.action_space("player_0") == Discrete(size)
    mask = env.observe("player_0")["action_mask"]
    known = all_plans(source)
    assert [known[action] for action in np.flatnonzero(mask)] == [
        (hats, balls, apples) for hats in range(2) for balls in range(3) for apples in range(4)
    ]
    assert not env.observe("player_1")["action_mask"].any()
    env.step(known.index((1, 0, 0)))
    assert env.observe("player_1")["action_mask"].sum() == 25 and env.observe("player_1")["action_mask"][-1]
    assert env.format(size - 1, "player_1") == "player_1: Deal"
    assert env.parse("player_1: Deal", "player_1") == size - 1
    assert env.parse("Words.\nplayer_1: 1 hats 0 balls 3 apples", "player_1") == known.index((1, 0, 3))
    env.step(size - 1)
    assert env.rewards == {"player_0": 8.0, "player_1": 6.0}


def test_the_vector_shows_items_values_and_what_one_would_get():
    env = bargain_v0.raw_env(obs_type="vector", instance=INSTANCE, max_rounds=2)
    env.reset(seed=0)
    for reply in ("player_0: 1 hats 1 balls 0 apples", "player_1: 0 hats 0 balls 3 apples"):
        env.step(env.parse(reply, env.agent_selection))
    counts = [0.2, 0.4, 0.6]
    first = [*counts, 0.8, 0.1, 0.0, 1, 0, 1, 0.2, 0.2, 0.0, 1, 0.2, 0.4, 0.0] + [0] * 8
    second = [*counts, 0.4, 0.0, 0.2, 0, 0, 1, 0.0, 0.2, 0.6, 1, 0.0, 0.0, 0.6] + [0] * 8
    assert env.observe("player_0")["observation"].tolist() == pytest.approx(first)
    assert env.observe("player_1")["observation"].tolist() == pytest.approx(second)
    env.step(env.parse("player_0: Deal", "player_0"))
    assert env.observe("player_1")["observation"][7] == 1
