"""Policies for OpenSpiel's games."""

import pytest

from agents.play import play
from agents.registry import baselines, make_policy
from llmarena_envs.adapters import make_adapted
from rating.config.game_sets import game_set

pytestmark = pytest.mark.needs("pyspiel")


def total(environment, specs, matches):
    """Returns the rewards of the first policy over matches in both seats."""
    env = make_adapted(environment)
    first, second = env.possible_agents
    rewards = 0.0
    for seed in range(matches):
        for seats in ((first, second), (second, first)):
            policies = {seat: make_policy(spec, environment) for seat, spec in zip(seats, specs, strict=True)}
            rewards += play(env, policies, seed).rewards[seats[0]]
    return rewards


def test_minimax_never_loses_small_games():
    assert total("openspiel/tic_tac_toe", ("minimax", "mcts:simulations=200"), 4) >= 0
    assert total("openspiel/nim", ("minimax", "random"), 8) > 8


@pytest.mark.parametrize(("game", "matches"), [("breakthrough", 5), ("leduc_poker", 100), ("pig", 5)])
def test_search_beats_random_play(game, matches):
    assert total(f"openspiel/{game}", ("mcts:simulations=50", "random"), matches) > 0


@pytest.mark.parametrize("game", ["leduc_poker", "breakthrough", "goofspiel"])
def test_same_seed_searches_the_same(game):
    env = make_adapted(f"openspiel/{game}")

    def digest():
        policies = {agent: make_policy("mcts:simulations=20", f"openspiel/{game}") for agent in env.possible_agents}
        return play(env, policies, 3).digest

    assert len({digest() for _ in range(3)}) == 1


def test_search_needs_hidden_information_that_can_be_redrawn():
    assert "mcts" not in baselines("openspiel/dark_chess")
    assert {"random", "first_legal", "mcts", "minimax"} <= baselines("openspiel/nim").keys()


def test_all_games_of_the_set_have_two_players_and_search():
    names = game_set("openspiel-40")
    assert len(set(names)) == 40
    for name in names:
        assert "mcts" in baselines(name)
        assert len(make_adapted(name).possible_agents) == 2
