"""What others invested, drawn anew."""

import copy

import numpy as np
import pytest

from llmarena_envs.public_goods.game import PublicGoods
from tests.llmarena_envs.draws import check_frequencies, redrawn


def played(*rounds, **options):
    game = PublicGoods(**{"n_players": len(rounds[0]), "rounds": len(rounds) + 1, **options})
    game.reset(np.random.default_rng(0))
    for investments in rounds:
        game.apply(investments)
    return game


def replayed(game, seed=0):
    """Replays the investments of a game and asserts that each is legal."""
    again = PublicGoods(
        len(game.agents),
        game.rounds,
        float(game.endowment * game.step),
        float(game.alpha),
        game.mode,
        float(game.step),
        "per_round" if game.gives_each_round else "initial",
    )
    again.reset(np.random.default_rng(seed))
    for investments in game.investments:
        assert not any(map(again.why_illegal, game.agents, investments))
        again.apply(investments)
    return again


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(("others", "possible"), [((2, 5), range(8)), ((9, 8), range(7, 11)), ((0, 0), range(1))])
def test_two_others_may_have_shared_a_sum_in_any_way(others, possible):
    game = played((4, *others))
    drawn = redrawn(game, "player_0", lambda other: other.investments[0])
    check_frequencies(drawn, {(4, one, sum(others) - one): 1 for one in possible})


@pytest.mark.slow
def test_three_others_share_a_sum_about_evenly():
    game = played((4, 0, 0, 6))
    drawn = redrawn(game, "player_0", lambda other: other.investments[0])
    check_frequencies(drawn, {(4, one, two, 6 - one - two): 1 for one in range(7) for two in range(7 - one)})


def test_published_amounts_are_resampled_over_players():
    game = played((4, 2, 7, 2), (1, 1, 5, 0), mode=2)
    drawn = redrawn(game, "player_0", lambda other: other.investments)
    first = [(4, 2, 7, 2), (4, 7, 2, 2), (4, 2, 2, 7)]
    second = [(1, *order) for order in ((0, 1, 5), (0, 5, 1), (1, 0, 5), (1, 5, 0), (5, 0, 1), (5, 1, 0))]
    check_frequencies(drawn, {(one, two): 1 for one in first for two in second})


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("endowment_mode", ["per_round", "initial"])
def test_resampled_investments_are_affordable(mode, endowment_mode):
    rng = np.random.default_rng(1)
    changed = 0
    for seed in range(10):
        game = PublicGoods(4, 5, 10, 1.2, mode, 1, endowment_mode)
        game.reset(np.random.default_rng(seed))
        while game.to_move:
            game.apply(tuple(game.random_action(agent, rng) for agent in game.agents))
            other = copy.copy(game)
            other.resample("player_2", rng)
            again = replayed(other)
            assert again.rewards == other.rewards
            assert [again.view(agent).history for agent in game.agents] == [
                other.view(agent).history for agent in game.agents
            ]
            assert again.view("player_2").history == game.view("player_2").history
            changed += other.investments != game.investments
    assert changed > 30


@pytest.mark.slow
def test_seats_are_permuted_if_amounts_are_otherwise_fixed():
    # Who invests all of it in the end must have been the one who gave nothing in each round before.
    rounds = [(0, 1, 1, 0)] * 10 + [(0, 0, 0, 10)]
    game = played(*rounds, endowment_mode="initial", mode=2, alpha=0.001)
    drawn = redrawn(game, "player_0", lambda other: other.investments[-1], draws=300)
    check_frequencies(drawn, {(0, 10, 0, 0): 1, (0, 0, 10, 0): 1, (0, 0, 0, 10): 1})
