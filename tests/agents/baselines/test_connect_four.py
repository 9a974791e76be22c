import copy

import numpy as np
import pytest

from agents.baselines.connect_four import (
    BASELINES,
    CELLS,
    WIN,
    GreedyConnectFour,
    Minimax,
    best_columns,
    completing,
    discs,
    evaluate,
    landing,
)
from agents.baselines.general import Random
from agents.play import play
from llmarena_envs import connect_four_v0
from llmarena_envs.connect_four.game import ConnectFour, has_four
from llmarena_envs.core.options import OptionError

AGENTS = ("player_0", "player_1")


def position(*columns):
    game = ConnectFour()
    game.reset(np.random.default_rng(0))
    for column in columns:
        game.apply((column,))
    return game


def random_position(rng, plies):
    """Returns an unfinished position after about ``plies`` random moves."""
    game = position()
    for _ in range(plies):
        following = after(game, int(rng.choice(game.open_columns())))
        if not following.to_move:
            break
        game = following
    return game


def after(game, column):
    game = copy.copy(game)
    game.apply((column,))
    return game


def sides(game):
    """Returns the discs of the player to move and of the other one."""
    mover = len(game.moves) % 2
    return game.discs[mover], game.discs[1 - mover]


def seeded(policy, game, seed=0):
    policy.reset(game.to_move[0], seed)
    return policy


def move(policy, game):
    return seeded(policy, game)(game.view(game.to_move[0]))


def plain_value(game, depth):
    """Negamax without a table and without pruning, in the terms of ``best_columns``."""
    mine, theirs = sides(game)
    if has_four(theirs):
        return -(WIN - len(game.moves))
    if len(game.moves) == CELLS:
        return 0
    if depth == 0:
        return evaluate(mine, theirs)
    return max(-plain_value(after(game, column), depth - 1) for column in game.open_columns())


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(("depth", "positions"), [(1, 300), (2, 300), (3, 100), (4, 25)])
def test_search_agrees_with_plain_negamax(depth, positions):
    rng = np.random.default_rng(depth)
    for _ in range(positions):
        game = random_position(rng, int(rng.integers(0, 41)))
        values = {column: -plain_value(after(game, column), depth - 1) for column in game.open_columns()}
        best = max(values.values())
        expected = best, {column for column in values if values[column] == best}
        found, columns = best_columns(*sides(game), depth)
        assert (found, set(columns)) == expected, (game.moves, depth)


def test_search_agrees_with_plain_negamax_to_the_end_of_the_game():
    rng = np.random.default_rng(0)
    late = [game for game in (random_position(rng, 42) for _ in range(1000)) if len(game.moves) >= 34]
    assert len(late) > 20
    for game in late:
        assert best_columns(*sides(game), CELLS)[0] == plain_value(game, CELLS), game.moves


def test_bits_agree_with_the_game():
    rng = np.random.default_rng(5)
    for _ in range(200):
        game = random_position(rng, int(rng.integers(0, 42)))
        assert (discs(game.board, "X"), discs(game.board, "O")) == game.discs
        filled = game.discs[0] | game.discs[1]
        landings = sum(1 << 7 * column + game.heights[column] for column in game.open_columns())
        assert landing(filled) == landings
        cells = [1 << 7 * column + height for column in range(7) for height in range(6)]
        for mine in game.discs:
            expected = sum(cell for cell in cells if not filled & cell and has_four(mine | cell))
            assert completing(mine, filled) == expected


def test_an_estimate_never_looks_like_a_win():
    rng = np.random.default_rng(6)
    estimates = [evaluate(*sides(random_position(rng, int(rng.integers(0, 42))))) for _ in range(300)]
    assert max(map(abs, estimates)) < WIN - CELLS
    mine, theirs = sides(position(3, 0))
    assert evaluate(mine, theirs) == -evaluate(theirs, mine) > 0


WIN_NOW = [
    ((0, 6, 1, 6, 2, 6), {3}),  # along the bottom; O threatens 6
    ((3, 0, 3, 0, 3, 6), {3}),  # up the column
    ((0, 1, 1, 2, 2, 3, 2, 3, 3, 6), {3}),  # up a diagonal
]
BLOCK = [
    ((0, 3, 1, 3, 6, 3), {3}),  # three in a column
    ((0, 6, 1, 6, 2), {3}),  # three along the bottom, one end at the wall
]


@pytest.mark.parametrize("factory", [GreedyConnectFour, lambda: Minimax(2), Minimax, lambda: Minimax(8)])
@pytest.mark.parametrize(("columns", "expected"), WIN_NOW + BLOCK)
def test_wins_are_taken_and_threats_blocked(factory, columns, expected):
    assert move(factory(), position(*columns)) in expected


def test_greedy_prefers_the_centre_and_draws_between_equals():
    assert move(GreedyConnectFour(), position()) == 3
    game = position(3, 3, 3, 3, 3, 3)
    policy = seeded(GreedyConnectFour(), game)
    assert {policy(game.view("player_0")) for _ in range(40)} == {2, 4}


def test_minimax_forces_a_win_with_an_open_three():
    # X has 2 and 3 on the bottom with both sides open: 4 (or 1) makes a double threat.
    game = position(2, 2, 3, 3)
    value, columns = best_columns(*sides(game), 3)
    assert value == WIN - 7
    assert set(columns) == {1, 4}
    # O to move can prevent it: at depth 5 the position before is no loss.
    assert best_columns(*sides(position(2, 2, 3)), 4)[0] > -WIN // 2


def test_a_full_board_counts_as_a_draw():
    drawn = (0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1)  # columns 0 and 1, no line
    drawn += (2, 3, 2, 3, 3, 2, 3, 2, 2, 3, 2, 3)
    drawn += (4, 5, 4, 5, 5, 4, 5, 4, 4, 5, 4, 5)
    game = position(*drawn, 6, 6, 6, 6, 6)
    assert game.to_move == ("player_1",)
    assert best_columns(*sides(game), 5) == (0, [6])


def test_minimax_draws_from_equally_good_columns():
    game = position()
    policy = seeded(Minimax(1), game)
    assert {policy(game.view("player_0")) for _ in range(40)} == set(best_columns(*sides(game), 1)[1])
    game = position(2, 2, 3, 3)
    policy = seeded(Minimax(3), game)
    assert {policy(game.view("player_0")) for _ in range(40)} == {1, 4}


def test_minimax_follows_its_seed():
    game = position(2, 2, 3, 3)

    def moves(seed):
        policy = seeded(Minimax(3), game, seed)
        return [policy(game.view("player_0")) for _ in range(20)]

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)


def score(first, second, games, **options):
    """Returns the sum of rewards of ``first`` over games with exchanged seats."""
    env = connect_four_v0.env(**options)
    total = 0.0
    for seed in range(games):
        seat = AGENTS[seed % 2]
        policies = {agent: first() if agent == seat else second() for agent in AGENTS}
        total += play(env, policies, seed // 2).rewards[seat]
    return total


def test_the_ladder():
    assert score(GreedyConnectFour, Random, 20) > 8
    assert score(lambda: Minimax(2), Random, 10) > 7
    assert score(lambda: Minimax(4), GreedyConnectFour, 12, random_opening=2) > 4


@pytest.mark.parametrize("depth", [0, -3, 43, "x", False, 5.0])
def test_a_bad_depth_is_refused(depth):
    with pytest.raises(OptionError, match="depth: expected an integer from 1 to 42"):
        Minimax(depth)


def test_names():
    assert set(BASELINES) == {"greedy", "minimax"}
