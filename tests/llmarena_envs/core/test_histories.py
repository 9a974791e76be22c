"""The formal model: player to move, terminal states and payoffs as functions of histories."""

import importlib
from typing import Any

import numpy as np
import pytest

from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.testing.trial import is_over, random_move

SEED = 5


@pytest.mark.slow_except(4)
@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
def test_functions_of_histories_agree_with_a_match(name: str) -> None:
    env: Any = importlib.import_module(f"llmarena_envs.{name}").env()
    env.reset(seed=SEED)
    rng, raw = np.random.default_rng(SEED), env.unwrapped
    game = importlib.import_module(f"llmarena_envs.{name}").env().unwrapped.game
    history: list[tuple[Any, ...]] = []
    payoff = dict.fromkeys(env.possible_agents, 0.0)
    while not is_over(env):
        stage = raw.game.to_move
        if len(history) < 4:
            assert game.next_agents(history, SEED) == stage
            assert not game.is_terminal(history, SEED)
        actions = []
        for agent in stage:
            move = random_move(env, rng)
            actions.append(raw.read_action(move, agent))
            env.step(move)
        for agent in payoff:
            payoff[agent] += env.rewards[agent]
        history.append(tuple(actions))
    assert game.next_agents(history, SEED) == ()
    assert game.is_terminal(history, SEED)
    assert game.payoff(history, SEED) == pytest.approx(payoff)
