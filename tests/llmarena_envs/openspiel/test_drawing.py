"""Drawings of OpenSpiel's games."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from llmarena_envs.adapters import make_adapted
from llmarena_envs.core.sheet import MAX_HEIGHT
from llmarena_envs.openspiel.rendering import RENDERINGS

pytestmark = pytest.mark.needs("pyspiel")


def at_turn(game: str, turns: int):
    """Returns an environment after random turns."""
    env = make_adapted(f"openspiel/{game}")
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(turns):
        if env.ending(env.agent_selection):
            break
        env.step(env.random_action(env.agent_selection, rng))
    return env


def replies_of(picture: str) -> list[str]:
    return [group.get("data-reply") for group in ElementTree.fromstring(picture).iter() if group.get("data-reply")]


@pytest.mark.parametrize("game", ["hex", "go", "tic_tac_toe", "breakthrough", "backgammon", "quoridor"])
def test_drawing_offers_every_legal_move_once(game):
    env = at_turn(game, 2)
    agent = env.agent_selection
    view = env.view(agent)
    expected = sorted(env.format(action, agent) for action in view.legal)
    assert sorted(replies_of(env.draw(agent))) == expected


@pytest.mark.parametrize("game", sorted(RENDERINGS))
def test_drawing_has_bounded_height_and_no_omitted_parts(game):
    env = at_turn(game, 12)
    for agent in env.possible_agents:
        picture = env.draw(agent)
        assert int(re.search(r'height="(\d+)', picture)[1]) <= MAX_HEIGHT
        assert "earlier entries" not in picture


def test_drawing_for_spectator_of_hidden_game_shows_whole_position():
    env = at_turn("battleship", 20)
    assert "Full history" in env.draw()
    assert not replies_of(env.draw())
