import copy

import numpy as np
import pytest

from agents.baselines.general import Random
from agents.baselines.tictactoe import BASELINES, GreedyTicTacToe, Minimax, move_value, value
from agents.play import play
from llmarena_envs import tictactoe_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.tictactoe.game import LINES, TicTacToe

AGENTS = ("player_0", "player_1")


def position(*moves):
    game = TicTacToe()
    game.reset(np.random.default_rng(0))
    for move in moves:
        game.apply((move,))
    return game


def after(game, cell):
    game = copy.copy(game)
    game.apply((cell,))
    return game


def all_positions():
    """Yields every unfinished position once."""
    seen, todo = set(), [position()]
    while todo:
        game = todo.pop()
        if game.to_move and game.board not in seen:
            seen.add(game.board)
            yield game
            todo += [after(game, cell) for cell in game.view(game.to_move[0]).legal]


def seeded(policy, agent, seed=0):
    policy.reset(agent, seed)
    return policy


def lines_of(game, mark):
    """Returns the free cells that complete a line of ``mark``, found line by line."""
    found = set()
    for line in LINES:
        marks = sorted((game.board[cell], cell) for cell in line)
        if [m for m, _ in marks] == sorted([mark, mark, "_"]):
            found.add(next(cell for m, cell in marks if m == "_"))
    return found


def test_greedy_wins_blocks_then_prefers_centre_corner_edge():
    policy = seeded(GreedyTicTacToe(), "player_0")
    kinds = set()
    for game in all_positions():
        mine, theirs = ("X", "O") if len(game.moves) % 2 == 0 else ("O", "X")
        free = {cell for cell in range(9) if game.board[cell] == "_"}
        groups = [lines_of(game, mine), lines_of(game, theirs), free & {4}, free & {0, 2, 6, 8}, free]
        kind = next(index for index, group in enumerate(groups) if group)
        assert policy(game.view(game.to_move[0])) in groups[kind], game.board
        kinds.add(kind)
    assert kinds == {0, 1, 2, 3, 4}


def test_greedy_draws_from_equally_good_cells():
    policy = seeded(GreedyTicTacToe(), "player_1")
    view = position(4).view("player_1")
    assert {policy(view) for _ in range(60)} == {0, 2, 6, 8}


def plain_value(game, depth):
    """Minimax without pruning and without a memory, in the terms of ``value``."""
    if any(game.rewards):
        return -(10 - len(game.moves))
    if not game.to_move or depth == 0:
        return 0
    return max(-plain_value(after(game, cell), depth - 1) for cell in game.view(game.to_move[0]).legal)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_search_agrees_with_plain_minimax(depth):
    for game in all_positions():
        if depth < 9 or len(game.moves) >= 4:
            mark = "XO"[len(game.moves) % 2]
            assert value(game.board, mark, depth) == plain_value(game, depth), game.board


def test_the_game_is_a_draw():
    assert [move_value("_" * 9, cell, "X", 9) for cell in range(9)] == [0] * 9


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("seed", range(4))
def test_minimax_never_loses_against_any_replies(agent, seed):
    policy = seeded(Minimax(), agent, seed)
    seat = AGENTS.index(agent)
    finished = 0
    todo = [position()]
    while todo:
        game = todo.pop()
        if not game.to_move:
            assert game.rewards[seat] >= 0, game.moves
            finished += 1
            continue
        view = game.view(game.to_move[0])
        todo += [after(game, cell) for cell in ((policy(view),) if game.to_move == (agent,) else view.legal)]
    assert finished > 50


def test_minimax_draws_against_itself_in_many_different_games():
    env = tictactoe_v0.env()
    games = set()
    for seed in range(20):
        episode = play(env, dict(zip(AGENTS, (Minimax(), Minimax()), strict=True)), seed)
        assert episode.rewards == {"player_0": 0.0, "player_1": 0.0}
        games.add(tuple(turn.action for turn in episode.turns))
    assert len(games) > 10


def test_minimax_wins_at_once_and_delays_a_loss():
    # X wins with 2 now, and could also win later with a fork.
    assert seeded(Minimax(), "player_0")(position(0, 3, 1, 4).view("player_0")) == 2
    # O loses with every move, but blocks the threat at 8 before X makes two.
    game = position(4, 1, 0)
    assert value(game.board, "O", 9) < 0
    assert seeded(Minimax(), "player_1")(game.view("player_1")) == 8


def test_a_shallow_search_can_lose():
    env = tictactoe_v0.env(random_opening=1)
    rewards = [
        play(env, {"player_0": Minimax(), "player_1": Minimax(depth=1)}, seed).rewards["player_1"] for seed in range(30)
    ]
    assert min(rewards) == -1


def test_baselines_beat_random():
    env = tictactoe_v0.env()
    for name, factory in BASELINES.items():
        score = 0.0
        for seed in range(30):
            seat = AGENTS[seed % 2]
            policies = {agent: factory() if agent == seat else Random() for agent in AGENTS}
            score += play(env, policies, seed).rewards[seat]
        assert score > 15, name


@pytest.mark.parametrize("depth", [0, -1, 10, "x", True, 2.0, None])
def test_a_bad_depth_is_refused(depth):
    with pytest.raises(OptionError, match="depth: expected an integer from 1 to 9"):
        Minimax(depth)
