"""Bargaining as a PettingZoo environment."""

import copy

import numpy as np
import pettingzoo
import pytest
from gymnasium.spaces import Discrete

from llmarena_envs import bargain_v0
from llmarena_envs.bargain.game import Bargain, Deal
from llmarena_envs.bargain.scenarios import all_plans
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
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


def test_agreeable_random_play_agrees_and_fails_to():
    env, rng = agreeable_env(max_rounds=2), np.random.default_rng(0)
    agreed = []
    for seed in range(40):
        env.reset(seed=seed)
        while not env.terminations["player_0"]:
            env.step(env.unwrapped.random_action(env.agent_selection, rng))
        agreed.append(env.infos["player_0"]["agreement"])
    assert 10 < sum(agreed) < 35


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


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("player_0: Deal", Failure.ILLEGAL),
        ("player_0: 2 hats", Failure.ILLEGAL),
        ("player_1: 1 hats", Failure.ILLEGAL),
        ("nothing", Failure.UNPARSABLE),
        ("", Failure.EMPTY),
        (None, Failure.UNPARSABLE),
        (3, Failure.UNPARSABLE),
        ("x" * 100_001, Failure.UNPARSABLE),
    ],
)
@pytest.mark.parametrize(("reward", "gain"), [("own_total", 0.0), ("zero_sum", 1.0), ("win", 1.0)])
def test_an_illegal_action_forfeits(reply, kind, reward, gain):
    env = bargain_v0.env(instance=INSTANCE, reward=reward)
    env.reset(seed=0)
    env.step(reply)
    assert env.rewards == {"player_0": -1.0, "player_1": gain}
    assert env.infos["player_0"]["illegal"] == kind and env.infos["player_1"]["illegal"] == 0
    assert all(env.terminations.values())


def test_the_reasons_of_illegal_offers_reach_the_player():
    env = bargain_v0.raw_env(instance=INSTANCE)
    env.reset(seed=0)
    for reply, reason in (
        ("player_0: 2 hats", "asks for 2 hats, but there are only 1"),
        ("player_0: -1 hats", "nobody can get -1 hats"),
        ("player_0: Deal", "no offer yet"),
    ):
        with pytest.raises(ValueError, match=reason) as error:
            env.parse(reply, "player_0")
        assert error.value.kind is Failure.ILLEGAL


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


def test_disclosure_is_flagged_at_once_and_not_censored():
    env = bargain_v0.env(instance=INSTANCE)
    env.reset(seed=0)
    env.step("Hats are worth 8, balls: 1, apples: 0\nplayer_0: 1 hats")
    assert env.infos["player_0"]["disclosed"] == 1 and env.infos["player_1"]["disclosed"] == 0
    assert "worth 8" in env.observe("player_1")["text"]


def test_a_deal_in_the_very_last_turn_pays():
    env = bargain_v0.env(instance=INSTANCE)
    env.reset(seed=0)
    for turn in range(19):
        env.step(f"player_{turn % 2}: 1 hats")
    assert env.agent_selection == "player_1" and not any(env.terminations.values())
    env.step("player_1: Deal")
    assert env.rewards == {"player_0": 8.0, "player_1": 6.0} and env.unwrapped.max_turns == 20


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


@pytest.mark.parametrize("action", [96, 97, -1, 95, 1.0, "player_0: 1 hats", True, None])
def test_other_vector_actions_forfeit(action):
    env = bargain_v0.env(obs_type="vector", instance=INSTANCE)
    env.reset(seed=0)
    env.step(action)
    assert env.rewards["player_0"] == -1
    kind = Failure.ILLEGAL if type(action) is int else Failure.UNPARSABLE
    assert (env.infos["player_0"]["illegal"], env.infos["player_1"]["illegal"]) == (kind, 0)


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


def test_sampled_texts_are_understood():
    env = bargain_v0.env()
    understood = 0
    for seed in range(30):
        env.reset(seed=seed)
        space = env.action_space("player_0")
        space.seed(seed)
        env.step(space.sample())
        understood += env.infos["player_0"]["illegal"] in (0, Failure.ILLEGAL)
    assert understood == 30


def test_the_seed_decides_the_scenario():
    env = bargain_v0.env()

    def scenario(seed):
        env.reset(seed=seed)
        return env.unwrapped.game.scenario

    assert [scenario(seed) for seed in range(20)] == [scenario(seed) for seed in range(20)]
    assert len({scenario(seed) for seed in range(20)}) == 20


def test_copies_in_the_middle_of_a_match_are_independent():
    env = bargain_v0.env(instance=INSTANCE)
    env.reset(seed=0)
    env.step("player_0: 1 hats")
    twin = copy.deepcopy(env)
    twin.step("No.\nplayer_1: 1 hats")
    assert "> No." in twin.observe("player_0")["text"] and "> No." not in env.observe("player_0")["text"]
    env.step("player_1: Deal")
    assert env.rewards["player_0"] == 8.0 and twin.rewards["player_0"] == 0.0


def test_it_is_registered_and_not_parallel():
    env = pettingzoo.make("aec", "llmarena/bargain-v0", max_rounds=3)
    assert env.unwrapped.max_turns == 6 and env.metadata["is_parallelizable"] is False


def test_wrong_options_are_named():
    with pytest.raises(OptionError, match=r"^language"):
        bargain_v0.env(language="de")
    with pytest.raises(OptionError, match=r"^show_offer_value"):
        bargain_v0.env(show_offer_value="yes")
