"""The public goods game as a PettingZoo environment."""

import copy

import numpy as np
import pettingzoo
import pytest
from gymnasium.spaces import Discrete

from llmarena_envs import public_goods_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError


def begun(**options):
    env = public_goods_v0.env(**options)
    env.reset(seed=0)
    return env


def test_investments_stay_hidden_until_the_last_one_is_in():
    env = begun()
    before = {agent: env.observe(agent)["text"] for agent in env.possible_agents}
    for investment in (10, 0, 5):
        env.step(investment)
    assert env.observe("player_3")["text"] == before["player_3"]
    assert [int(env.observe(agent)["action_mask"].sum()) for agent in env.possible_agents] == [0, 0, 0, 11]
    assert env.rewards == dict.fromkeys(env.possible_agents, 0.0)
    env.step(5)
    assert env.rewards == {"player_0": 6.0, "player_1": 16.0, "player_2": 11.0, "player_3": 11.0}
    assert env.agent_selection == "player_0"


def test_rewards_of_rounds_add_up_to_the_coins_at_the_end():
    env = begun(coin_step=0.1)
    earned = dict.fromkeys(env.possible_agents, 0.0)
    investments = iter(range(0, 100, 5))
    for agent in env.agent_iter():
        _, reward, over, _, _ = env.last()
        earned[agent] += reward
        env.step(None if over else next(investments))
    game = env.unwrapped.game
    assert earned == pytest.approx({agent: game.coins(agent) for agent in game.agents}, abs=1e-9)
    assert sum(earned.values()) == pytest.approx(4 * 5 * 10 + 0.2 * sum(range(0, 100, 5)) / 10)


@pytest.mark.parametrize(
    ("investment", "kind"),
    [(11, Failure.ILLEGAL), (-1, Failure.ILLEGAL), (1.0, Failure.UNPARSABLE), (None, Failure.UNPARSABLE)],
)
def test_illegal_investment_ends_match_at_the_rounds_end(investment, kind):
    env = begun(n_players=2)
    env.step(investment)
    assert not any(env.terminations.values())
    env.step(3)
    assert all(env.terminations.values())
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert env.infos["player_0"]["illegal"] == kind and env.infos["player_1"]["illegal"] == 0


def test_the_mask_follows_the_stock():
    env = begun(endowment_mode="initial", n_players=2, rounds=2, alpha=1.5)
    assert env.action_space("player_0") == Discrete(46)  # 2 * 10 * 1.5 ** 2 = 45
    env.step(10)
    env.step(3)
    assert np.flatnonzero(env.observe("player_0")["action_mask"]).tolist() == list(range(10))  # 9.75 coins
    env.step(0)
    assert np.flatnonzero(env.observe("player_1")["action_mask"]).tolist() == list(range(17))  # 16.75 coins


def test_the_action_space_holds_every_step():
    assert public_goods_v0.env().action_space("player_0") == Discrete(11)
    assert public_goods_v0.env(coin_step=0.1).action_space("player_0") == Discrete(101)
    assert public_goods_v0.env(endowment_mode="initial").action_space("player_0") == Discrete(100)


def test_the_parallel_form_plays_the_same_match():
    parallel, aec = public_goods_v0.parallel_env(rounds=2, mode=2), public_goods_v0.env(rounds=2, mode=2)
    observations, infos = parallel.reset(seed=4)
    aec.reset(seed=4)
    for investments in ((3, 5, 0, 10), (1, 0, 9, 9)):
        for agent in aec.possible_agents:
            assert observations[agent]["text"] == aec.observe(agent)["text"]
        observations, rewards, terminations, truncations, infos = parallel.step(
            dict(zip(parallel.possible_agents, investments, strict=True))
        )
        for investment in investments:
            aec.step(investment)
        assert dict(rewards) == aec.rewards
        assert terminations == aec.terminations and not any(truncations.values())
        assert infos == aec.infos
    assert parallel.agents == []


def test_the_vector_of_mode_1():
    env = begun(obs_type="vector", n_players=2, alpha=1.5, rounds=2)
    assert env.observation_space("player_0")["observation"].shape == (7,)
    assert env.observe("player_0")["observation"].tolist() == [0, 1, 0, 0, 0, 0, 0]
    env.step(4)
    env.step(6)
    # All together can own 2 * 10 * 2 * 1.5 = 60 coins; each got 7.5 and owns 13.5 or 11.5.
    seen = {agent: env.observe(agent)["observation"].tolist() for agent in env.agents}
    assert seen["player_0"] == pytest.approx([0.5, 1, 13.5 / 60, 0.4, 7.5 / 30, 0, 0])
    assert seen["player_1"] == pytest.approx([0.5, 1, 11.5 / 60, 0.6, 7.5 / 30, 0, 0])


def test_the_vector_of_mode_2_with_a_stock():
    env = begun(obs_type="vector", n_players=3, alpha=1.5, rounds=1, mode=2, endowment_mode="initial")
    assert env.action_space("player_0") == Discrete(46)
    assert env.observe("player_0")["observation"].tolist() == pytest.approx([0, 10 / 45, 10 / 45, 0, 0, 0, 0, 0])
    for investment in (0, 9, 3):
        env.step(investment)
    vector = env.observe("player_2")["observation"].tolist()
    assert vector == pytest.approx([1, 13 / 45, 13 / 45, 3 / 45, 6 / 15, 9 / 45, 3 / 45, 0])


def test_infos_hold_own_numbers_only():
    env = begun()
    for investment in (4, 9, 0, 7):
        env.step(investment)
    assert env.infos["player_1"] == {"illegal": 0, "investment": 9.0, "income": 6.0}
    assert env.infos["player_2"] == {"illegal": 0, "investment": 0.0, "income": 6.0}


def test_a_pending_investment_survives_a_copy_and_a_reset_drops_it():
    env = begun(n_players=2, alpha=1.5)
    env.step(4)
    twin = copy.deepcopy(env)
    twin.step(0)
    assert twin.rewards == {"player_0": 9.0, "player_1": 13.0}
    env.reset(seed=0)
    assert env.agent_selection == "player_0" and env.observe("player_0")["action_mask"].any()


def test_no_amount_is_invested_by_default():
    env = begun().unwrapped
    assert env.default_action("player_1") is None
    assert (env.declaration.unparsable, env.declaration.illegal) == ("random_legal", "random_legal")


def test_the_reference_is_the_payoff_of_free_riding():
    assert public_goods_v0.raw_env().references() == {"equilibrium": 50.0}
    assert public_goods_v0.raw_env(endowment_mode="initial", endowment=2.5, coin_step=0.5).references() == {
        "equilibrium": 2.5
    }


@pytest.mark.parametrize("alpha", [1, 4, 0.5, 10])
def test_a_game_without_a_dilemma_is_warned_of(alpha):
    with pytest.warns(UserWarning, match=r"alpha: expected 1 < alpha < n_players = 4, got"):
        env = public_goods_v0.raw_env(alpha=alpha)
    assert env.references() == ({} if alpha >= 4 else {"equilibrium": 50.0})


def test_both_forms_are_registered():
    assert pettingzoo.make("aec", "llmarena/public_goods-v0").unwrapped.metadata["name"] == "public_goods_v0"
    observations, _ = pettingzoo.make("parallel", "llmarena/public_goods-v0", n_players=2).reset(seed=0)
    assert observations.keys() == {"player_0", "player_1"}


def test_unknown_language_and_wrong_flags_are_named():
    with pytest.raises(OptionError, match=r"^language"):
        public_goods_v0.env(language="de")
    with pytest.raises(OptionError, match=r"^cot"):
        public_goods_v0.env(cot=1)
