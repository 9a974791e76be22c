"""The sealed-bid auction as a PettingZoo environment."""

import copy

import numpy as np
import pettingzoo
import pytest
from gymnasium.spaces import Discrete

from llmarena_envs import bid_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError


def test_bids_stay_sealed_until_the_last_one_is_in():
    env = bid_v0.env(n_bidders=3, rounds=2)
    env.reset(seed=1)
    before = {agent: env.observe(agent)["text"] for agent in env.possible_agents}
    env.step(0)
    env.step(1)
    assert env.observe("player_2")["text"] == before["player_2"]
    assert not env.observe("player_0")["action_mask"].any()
    assert env.observe("player_2")["action_mask"].any()
    assert env.rewards == dict.fromkeys(env.possible_agents, 0.0)
    env.step(0)
    assert any(env.rewards.values())
    assert env.agent_selection == "player_0"


def test_the_mask_shows_the_bids_below_the_valuation():
    env = bid_v0.env(values=[[7.0, 0.01]])
    env.reset(seed=0)
    assert env.action_space("player_0") == Discrete(1000)
    assert np.flatnonzero(env.observe("player_0")["action_mask"]).tolist() == list(range(700))
    assert np.flatnonzero(env.observe("player_1")["action_mask"]).tolist() == [0]


@pytest.mark.parametrize(
    ("bid", "kind"),
    [(700, Failure.ILLEGAL), (-1, Failure.ILLEGAL), (1.0, Failure.UNPARSABLE), (None, Failure.UNPARSABLE)],
)
def test_an_illegal_bid_ends_the_match_when_the_round_is_complete(bid, kind):
    env = bid_v0.env(values=[[7.0, 5.0]])
    env.reset(seed=0)
    env.step(bid)
    assert not any(env.terminations.values())
    env.step(100)
    assert all(env.terminations.values())
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert env.infos["player_0"]["illegal"] == kind and env.infos["player_1"]["illegal"] == 0


def test_two_illegal_bids_cost_both():
    env = bid_v0.env(values=[[7.0, 5.0]])
    env.reset(seed=0)
    env.step(999)
    env.step(999)
    assert env.rewards == {"player_0": -1.0, "player_1": -1.0}


def test_earnings_of_rounds_add_up_in_last():
    env = bid_v0.env(rounds=3, values=[[7, 5], [6, 9], [4, 4]])
    env.reset(seed=0)
    earned = dict.fromkeys(env.possible_agents, 0.0)
    bids = iter([300, 200, 100, 500, 200, 0])
    for agent in env.agent_iter():
        _, reward, over, _, _ = env.last()
        earned[agent] += reward
        env.step(None if over else next(bids))
    assert earned == {"player_0": 6.0, "player_1": 4.0}


def test_the_parallel_form_plays_the_same_match():
    parallel, aec = bid_v0.parallel_env(rounds=2), bid_v0.env(rounds=2)
    observations, infos = parallel.reset(seed=4)
    aec.reset(seed=4)
    assert infos == aec.infos
    for bids in ((3, 5), (1, 0)):
        for agent in aec.possible_agents:
            assert observations[agent]["text"] == aec.observe(agent)["text"]
        observations, rewards, terminations, truncations, infos = parallel.step(
            dict(zip(parallel.possible_agents, bids, strict=True))
        )
        for bid in bids:
            aec.step(bid)
        assert dict(rewards) == aec.rewards
        assert terminations == aec.terminations and not any(truncations.values())
        assert infos == aec.infos
    assert parallel.agents == []


def test_an_illegal_bid_in_the_parallel_form():
    env = bid_v0.parallel_env(values=[[7.0, 5.0]])
    env.reset(seed=0)
    _, rewards, terminations, _, infos = env.step({"player_0": 700, "player_1": 100})
    assert dict(rewards) == {"player_0": -1.0, "player_1": 0.0}
    assert all(terminations.values()) and infos["player_0"]["illegal"] == Failure.ILLEGAL


def test_the_vector_holds_valuation_progress_and_past_rounds():
    env = bid_v0.raw_env(obs_type="vector", n_bidders=3, rounds=2, v_max=10, grid=1, values=[[8, 4, 2], [5, 5, 10]])
    env.reset(seed=0)
    assert env.observation_space("player_0")["observation"].shape == (14,)
    assert env.observe("player_1")["observation"].tolist() == pytest.approx([0.4] + [0] * 13)
    for bid in (6, 3, 1):
        env.step(bid)
    seen = {agent: env.observe(agent)["observation"].tolist() for agent in env.agents}
    assert seen["player_0"] == pytest.approx([0.5, 0.5, 0.8, 0.6, 0.6, 1, 0, 0] + [0] * 6)
    assert seen["player_1"] == pytest.approx([0.5, 0.5, 0.4, 0.3, 0.6, 0, 0, 1] + [0] * 6)
    assert seen["player_2"] == pytest.approx([1.0, 0.5, 0.2, 0.1, 0.6, 0, 1, 0] + [0] * 6)


def test_infos_hold_the_score_and_own_numbers_only():
    env = bid_v0.env(values=[[8.0, 5.0]])
    env.reset(seed=0)
    env.step(600)
    env.step(100)
    assert env.infos["player_0"] == {"illegal": 0, "score": 0.5, "bid": 6.0, "valuation": 8.0}
    assert env.infos["player_1"] == {"illegal": 0, "score": -0.6, "bid": 1.0, "valuation": 5.0}
    assert env.rewards == {"player_0": 2.0, "player_1": 0.0}


def test_a_pending_bid_survives_a_copy_and_a_reset_drops_it():
    env = bid_v0.env(values=[[7.0, 5.0]])
    env.reset(seed=0)
    env.step(300)
    twin = copy.deepcopy(env)
    twin.step(200)
    assert twin.rewards["player_0"] == 4.0
    env.reset(seed=0)
    assert env.agent_selection == "player_0" and env.observe("player_0")["action_mask"].any()


def test_default_action_is_a_zero_bid():
    env = bid_v0.raw_env()
    env.reset(seed=0)
    assert env.default_action("player_1") == 0


def test_both_forms_are_registered():
    assert pettingzoo.make("aec", "llmarena/bid-v0").unwrapped.metadata["name"] == "bid_v0"
    assert pettingzoo.make("parallel", "llmarena/bid-v0", rounds=2).reset(seed=0)[0].keys() == {"player_0", "player_1"}


def test_unknown_language_and_wrong_flags_are_named():
    with pytest.raises(OptionError, match=r"^language"):
        bid_v0.env(language="de")
    with pytest.raises(OptionError, match=r"^cot"):
        bid_v0.env(cot=1)
    with pytest.raises(OptionError, match=r"^obs_type"):
        bid_v0.env(obs_type="numbers")
