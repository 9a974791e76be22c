"""Resampling beyond the conformance suite: repeatedly, and after the end."""

import copy
import importlib
from collections.abc import Iterator

import numpy as np
import pytest

from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.transcript import plain


def positions(env: TextEnv, rng: np.random.Generator) -> Iterator[TextEnv]:
    """Plays a random match, and yields the environment at the beginning, in the middle and at the end."""
    env.reset(seed=3)
    yield env
    middle = int(rng.integers(1, 5))
    for turn in range(env.max_turns):
        if env.terminations[env.agent_selection]:
            break
        if turn == middle:
            yield env
        for agent in env.game.to_move:
            env.step(env.random_action(agent, rng))
    yield env


@pytest.mark.slow_except(5)
@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
def test_resampling_repeats_and_works_after_the_end(name: str) -> None:
    env = importlib.import_module(f"llmarena_envs.{name}").raw_env()
    rng = np.random.default_rng(3)
    for position in positions(env, rng):
        game = position.game
        for agent in game.agents:
            twin = copy.copy(game)
            for _ in range(3):
                twin.resample(agent, rng)
                assert plain(twin.view(agent)) == plain(game.view(agent))
                assert twin.to_move == game.to_move
