"""Search under hidden information: ``Game.resample`` supports information set Monte Carlo search (Cowling et al. 2012)."""

import copy
from collections import Counter
from typing import Any

import numpy as np
import pytest

from llmarena_envs import bid_v0, hanabi_v0, holdem_v0
from llmarena_envs.core.game import Game


def play_out(game: Game[Any, Any], agent: str, rng: np.random.Generator) -> float:
    """Plays to the end at random; returns the agent's further rewards."""
    total, seat = 0.0, game.agents.index(agent)
    while game.to_move:
        game.apply(tuple(game.random_action(mover, rng) for mover in game.to_move))
        total += game.rewards[seat]
    return total


def search(game: Game[Any, Any], agent: str, draws: int, rng: np.random.Generator) -> Any:
    """Returns the action with the best mean over redrawn positions, each action tried in the same ones."""
    values: Counter[Any] = Counter()
    seat = game.agents.index(agent)
    for _ in range(draws):
        twin = copy.copy(game)
        twin.resample(agent, rng)
        for action in twin.view(agent).legal:
            tried = copy.copy(twin)
            moves = (action if mover == agent else tried.random_action(mover, rng) for mover in tried.to_move)
            tried.apply(tuple(moves))
            values[action] += tried.rewards[seat] + play_out(tried, agent, rng)
    return max(values, key=lambda action: (values[action], -action))


@pytest.mark.parametrize("module", [holdem_v0, bid_v0, hanabi_v0])
def test_search_is_seeded_and_leaves_the_position_unchanged(module: Any) -> None:
    env = module.env()
    env.reset(seed=5)
    game = env.unwrapped.game
    agent = game.to_move[0]
    before = {seat: copy.deepcopy(game.view(seat)) for seat in game.agents}
    choices = [search(game, agent, 4, np.random.default_rng(3)) for _ in range(2)]
    assert choices[0] == choices[1]
    assert {seat: game.view(seat) for seat in game.agents} == before


def test_search_wins_chips_of_a_random_player() -> None:
    env = holdem_v0.env()
    won = 0.0
    rng = np.random.default_rng(2)
    for seed in range(30):
        env.reset(seed=seed)
        game = env.unwrapped.game
        searcher = seed % 2
        while game.to_move:
            agent = game.to_move[0]
            searches = game.agents.index(agent) == searcher
            game.apply((search(game, agent, 12, rng) if searches else game.random_action(agent, rng),))
            won += game.rewards[searcher]
    assert won > 0
