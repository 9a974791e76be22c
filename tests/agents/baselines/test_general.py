from collections import Counter

import numpy as np
import pytest

from agents.baselines.general import FirstLegal, Random
from agents.play import play
from agents.policy import ScriptedPolicy
from agents.registry import make_policy
from llmarena_envs.connect_four.game import ConnectFour
from llmarena_envs.tictactoe.game import TicTacToe
from tests.llmarena_envs.testing.duel import Duel, DuelEnv


def game_after(game, *moves):
    game.reset(np.random.default_rng(0))
    for move in moves:
        game.apply((move,))
    return game


def view_after(game, *moves):
    return game_after(game, *moves).view(game.to_move[0])


def draw_from(game):
    return lambda rng: game.random_action(game.to_move[0], rng)


class SpokenDuel(Duel):
    """A duel whose actions are texts and cannot be listed."""

    num_actions = None

    def view(self, agent):
        return super().view(agent)._replace(legal=())

    def random_action(self, agent, rng):
        return int(rng.integers(3))


class SpokenDuelEnv(DuelEnv):
    game_type = SpokenDuel


# This module is a third-party environment, found by its name.
raw_env = SpokenDuelEnv
env = SpokenDuelEnv.make


def test_random_plays_exactly_the_legal_actions_uniformly():
    policy = Random()
    policy.reset("player_0", 1)
    draw = draw_from(game_after(TicTacToe(), 4, 0, 8))
    counts = Counter(policy(draw) for _ in range(6000))
    assert set(counts) == {1, 2, 3, 5, 6, 7}
    # Chi-square with 5 degrees of freedom: 20.5 is exceeded once in a thousand seeds.
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 20.5


def test_random_follows_its_seed():
    draw = draw_from(game_after(ConnectFour()))

    def moves(seed):
        policy = Random()
        policy.reset("player_0", seed)
        return [policy(draw) for _ in range(30)]

    assert moves(3) == moves(3)
    assert moves(3) != moves(4)


def test_random_plays_third_party_text_game():
    def moves(seed):
        players = {agent: make_policy("random", __name__) for agent in SpokenDuel.agents}
        episode = play(SpokenDuelEnv.make(), players, seed)
        assert not any(episode.forfeit(agent) for agent in players)
        assert all(turn.fallback == "" and len(turn.attempts) == 1 for turn in episode.turns)
        return [turn.action for turn in episode.turns]

    assert {move for seed in range(5) for move in moves(seed)} == {"0", "1", "2"}
    assert moves(1) == moves(1) != moves(2)


def test_first_legal_plays_the_smallest_action():
    policy = FirstLegal()
    policy.reset("player_0", 0)
    assert policy(view_after(TicTacToe(), 0, 1)) == 2
    assert policy(view_after(ConnectFour(), 0, 0, 0, 0, 0, 0)) == 1


def test_reset_begins_the_stream_again():
    policy = Random()
    draw = draw_from(game_after(TicTacToe()))
    runs = []
    for _ in range(2):
        policy.reset("player_1", 9)
        runs.append([policy(draw) for _ in range(20)])
    assert runs[0] == runs[1]
    assert policy.agent == "player_1"


def test_base_class_cannot_play():
    with pytest.raises(NotImplementedError):
        ScriptedPolicy()(None)
