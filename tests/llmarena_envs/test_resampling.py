"""What every game keeps when it redraws what an agent cannot know: what the agent knows, and that the match goes on."""

import copy
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.transcript import plain
from tests.llmarena_envs.option_sets import option_sets

CASES = [(entry.name, options) for entry in CATALOGUE for options in option_sets(entry.name).OPTION_SETS]
POSITIONS = 2
"""Random positions of a match that are tried, beside the first and the last one."""


def positions(env: TextEnv, seed: int, rng: np.random.Generator) -> Iterator[TextEnv]:
    """Plays a random match, and yields the environment at some positions."""
    env.reset(seed=seed)
    yield env
    for _ in range(env.max_turns):
        if env.terminations[env.agent_selection]:
            break
        for agent in env.game.to_move:
            env.step(env.random_action(agent, rng))
        if rng.random() < POSITIONS / env.max_turns:
            yield env
    yield env


def known(env: TextEnv, agent: str) -> Any:
    """Returns all that an agent can know of a position."""
    seen = [env.view(agent), env.observe(agent), env.game.statistics(agent)]
    return plain([*seen, env.vector(agent)] if "vector" in env.obs_types else seen)


def redrawn(env: TextEnv, agent: str, rng: np.random.Generator) -> TextEnv:
    """Returns an environment at another position that the agent could as well be in."""
    other = copy.copy(env)
    other.game = copy.copy(env.game)
    other.game.resample(agent, rng)
    return other


def content(game: Any) -> Any:
    """Returns everything that a game holds; messages lie in a pool."""
    return plain({**game.__dict__, "pool": list(getattr(game, "pool", ()))})


def play_on(game: Any, rng: np.random.Generator) -> None:
    for _ in range(game.max_turns):
        if not game.to_move:
            break
        moves = [game.random_action(agent, rng) for agent in game.to_move]
        reasons = [game.why_illegal(agent, move) for agent, move in zip(game.to_move, moves, strict=True)]
        assert not any(reasons), reasons
        game.apply(tuple(moves))
    assert not game.to_move
    assert len(game.rewards) == len(game.agents)
    assert np.isfinite(game.rewards).all()


@pytest.mark.parametrize(("name", "options"), CASES, ids=[f"{name}-{options}" for name, options in CASES])
def test_an_agent_notices_nothing_and_the_match_goes_on(name: str, options: dict[str, Any]) -> None:
    env = importlib.import_module(f"llmarena_envs.{name}").raw_env(**options)
    rng = np.random.default_rng(1)
    changed = 0
    for seed in range(2):
        for position in positions(env, seed, rng):
            before = {agent: known(position, agent) for agent in env.game.agents}
            for agent in env.game.agents:
                other = redrawn(position, agent, rng)
                assert known(other, agent) == before[agent], agent
                assert other.game.to_move == env.game.to_move
                changed += content(other.game) != content(env.game)
                play_on(other.game, rng)
            assert {agent: known(position, agent) for agent in env.game.agents} == before
    assert (changed > 0) == (not env.game.perfect_information)


@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
def test_the_generator_decides_what_is_redrawn(name: str) -> None:
    env = importlib.import_module(f"llmarena_envs.{name}").raw_env()
    for position in positions(env, 3, np.random.default_rng(3)):
        for agent in env.game.agents:
            one, same = (redrawn(position, agent, np.random.default_rng(5)).game for _ in range(2))
            assert content(one) == content(same)
            one.resample(agent, np.random.default_rng(6))  # as often as one likes
            assert plain(one.view(agent)) == plain(env.game.view(agent))
