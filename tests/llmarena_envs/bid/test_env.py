"""The sealed-bid auction as a PettingZoo environment."""

import pytest

from llmarena_envs import bid_v0


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
