"""Tests of search for every game with enumerated actions."""

from typing import Any

import numpy as np
import pytest

from agents.baselines.search import MonteCarloTreeSearch
from agents.play import play
from agents.registry import make_policy
from llmarena_envs.catalogue import load_environment
from llmarena_envs.connect_four.game import ConnectFour
from llmarena_envs.core.game import Game
from llmarena_envs.tictactoe.game import TicTacToe

GAMES = ("tictactoe_v0", "connect_four_v0", "holdem_v0", "hanabi_v0", "bid_v0", "public_goods_v0")


def move(game: Game[Any, Any], agent: str, seed: int = 0, **options: Any) -> Any:
    policy = MonteCarloTreeSearch(**options)
    policy.reset(agent, seed)
    return policy(lambda rng: game.sampled(agent, rng))


def after(game: Game[Any, Any], *actions: int) -> Game[Any, Any]:
    return game.after([(action,) for action in actions], 0)[0]


@pytest.mark.parametrize(
    ("game", "actions", "agent", "best"),
    [
        pytest.param(TicTacToe(), (0, 3, 1, 4), "player_0", 2, id="wins at tic-tac-toe"),
        pytest.param(TicTacToe(), (0, 4, 1), "player_1", 2, id="blocks at tic-tac-toe"),
        pytest.param(ConnectFour(), (0, 6, 1, 6, 2, 5), "player_0", 3, id="wins at connect four"),
        pytest.param(ConnectFour(), (0, 6, 0, 6, 0), "player_1", 0, id="blocks at connect four"),
    ],
)
def test_the_search_finds_forced_moves(game, actions, agent, best):
    assert [move(after(game, *actions), agent, seed) for seed in range(2)] == [best] * 2


@pytest.mark.slow
def test_the_search_holds_perfect_play_to_a_draw():
    env = load_environment("tictactoe_v0")()
    for seat in env.possible_agents:
        policies = {agent: make_policy("minimax", "tictactoe_v0") for agent in env.possible_agents}
        policies[seat] = make_policy("mcts:simulations=1000", "tictactoe_v0")
        assert [play(env, policies, seed).rewards[seat] for seed in range(2)] == [0.0, 0.0]


@pytest.mark.parametrize("name", GAMES)
def test_search_plays_every_enumerated_game_reproducibly(name):
    env = load_environment(name)()
    digests = [
        play(env, {agent: make_policy("mcts:simulations=5", name) for agent in env.possible_agents}, seed=3).digest
        for _ in range(2)
    ]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("name", ["holdem_v0", "hanabi_v0", "bid_v0"])
def test_search_position_hides_hidden_information(name):
    env = load_environment(name)()
    env.reset(seed=1)
    agent = env.agent_selection
    others = [each for each in env.possible_agents if each != agent]
    sampled = [env.game.sampled(agent, np.random.default_rng(seed)) for seed in range(20)]
    assert all(position.view(agent) == env.game.view(agent) for position in sampled)
    assert len({str([position.view(other) for other in others]) for position in sampled}) > 1
