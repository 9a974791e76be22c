"""Pictures of the public goods game."""

import pytest

from llmarena_envs import public_goods_v0
from tests.support.pictures import height, shown, texts_outside


def invested(*investments, **options):
    env = public_goods_v0.raw_env(n_players=3, endowment=100, alpha=1.5, **options)
    env.reset(seed=0)
    for investment in investments:
        env.step(investment)
    return env


@pytest.mark.parametrize("mode", [1, 2])
def test_drawing_follows_the_mode_and_names_no_player(mode):
    text = shown(invested(98, 13, 57, mode=mode).draw("player_1"))
    assert "13" in text and "84" in text and "You own 171 coins" in text
    assert ("98, 57, 13" in text) == (mode == 2)
    assert "player" not in text
    assert {"Round", "You invested", "Your income"} <= set(text.split("\n"))


def test_all_players_of_a_kind_see_the_same():
    env = invested(20, 20, 20)
    assert env.draw("player_0") == env.draw("player_2")


def test_spectator_sees_investments_once_all_are_in():
    env = invested(98, 13)
    assert "98" not in shown(env.draw())
    env.step(57)
    text = shown(env.draw())
    assert all(each in text for each in ("player_0", "98", "13", "57", "168: each receives 84"))


def test_twenty_players_and_many_rounds_find_room():
    env = public_goods_v0.raw_env(n_players=20, rounds=100, endowment=1000.5, coin_step=0.5, mode=2)
    env.reset(seed=1)
    for turn in range(20 * 100):
        env.step(turn % 2001)
    for picture in (env.draw(), env.draw("player_19")):
        assert height(picture) <= 1200 and len(picture) < 100_000
        assert not texts_outside(picture)
