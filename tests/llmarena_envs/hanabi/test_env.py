import numpy as np
import pytest

from llmarena_envs import hanabi_v0
from llmarena_envs.core.failures import Failure
from tests.llmarena_envs.hanabi.positions import DECK, PLAY_1, PLAY_2, RANK_2, RED


def played(*actions, **options):
    env = hanabi_v0.env(deck=DECK, **options)
    env.reset(seed=0)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for action in actions:
        env.step(action)
        for agent, reward in env.rewards.items():
            totals[agent] += reward
    return env, totals


def test_every_player_receives_every_point():
    env, totals = played(PLAY_1, PLAY_1, PLAY_1)
    assert totals == {"player_0": 3.0, "player_1": 3.0}
    assert env.infos["player_0"] == {"illegal": 0, "score": 3, "plays": 2, "discards": 0, "reveals": 0}
    assert not any(env.terminations.values())


@pytest.mark.parametrize(("bomb_score", "total"), [("zero", 0), ("keep", 1)])
def test_a_lost_life_takes_the_points_back(bomb_score, total):
    env, totals = played(PLAY_1, PLAY_2, bomb_score=bomb_score)
    assert all(env.terminations.values())
    assert totals == {"player_0": float(total), "player_1": float(total)}
    assert env.infos["player_1"] == {"illegal": 0, "score": total, "plays": 1, "discards": 0, "reveals": 0}


@pytest.mark.parametrize(
    ("bomb_score", "totals", "score"),
    [("zero", {"player_0": 0.0, "player_1": -1.0}, 0), ("keep", {"player_0": 1.0, "player_1": 0.0}, 1)],
)
@pytest.mark.parametrize("action", [RED, 11, -1, None, "Play card 1"])
def test_an_illegal_action_ends_the_match(action, bomb_score, totals, score):
    options = {"deck": "R1 Y2 Y1 Y3 Y2 R1 R1 R2 Y3 Y1 R4 Y4 R5 Y5 Y1 R2 R3 R3 R4 Y4", "bomb_score": bomb_score}
    env = hanabi_v0.env(**options)
    env.reset(seed=0)
    env.step(PLAY_1)
    env.step(action)
    assert all(env.terminations.values())
    assert env.infos["player_1"]["illegal"] in (Failure.ILLEGAL, Failure.UNPARSABLE)
    assert env.infos["player_0"]["illegal"] == 0
    assert env.infos["player_0"]["score"] == score
    assert {agent: 1.0 + reward for agent, reward in env.rewards.items()} == totals
    assert not env.observe("player_0")["action_mask"].any()
    assert "You ended it with an illegal action." in env.observe("player_1")["text"]


def test_fixed_deck_is_dealt_in_order_under_any_seed():
    first, second = hanabi_v0.raw_env(deck=DECK), hanabi_v0.raw_env(deck=DECK)
    first.reset(seed=1)
    second.reset(seed=2)
    assert first.game.hands == second.game.hands


def test_a_deck_seed_deals_the_same_in_every_match():
    env = hanabi_v0.raw_env(deck_seed=3)
    decks = set()
    for seed in range(5):
        env.reset(seed=seed)
        decks.add(env.game.deck)
    assert len(decks) == 1


def test_spaces():
    env = hanabi_v0.env(obs_type="vector")
    assert list(env.observation_space("player_0")) == ["observation", "action_mask"]
    assert env.observation_space("player_0")["observation"].shape == (134,)
    assert env.action_space("player_1").n == 11
    five = hanabi_v0.env(players=5, colors=5, hand_size=4, obs_type="vector")
    assert five.possible_agents == [f"player_{seat}" for seat in range(5)]
    assert five.action_space("player_4").n == 2 * 4 + 4 * 10


def test_masks_are_the_legal_actions_of_the_one_to_move():
    env, _ = played(RANK_2)
    assert np.flatnonzero(env.observe("player_1")["action_mask"]).tolist() == [0, 1, 2, 3, 4, 6, 7]
    assert not env.observe("player_0")["action_mask"].any()
