"""The public goods game as a PettingZoo environment."""

import pytest
from gymnasium.spaces import Discrete

from llmarena_envs import public_goods_v0


def begun(**options):
    env = public_goods_v0.env(**options)
    env.reset(seed=0)
    return env


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
