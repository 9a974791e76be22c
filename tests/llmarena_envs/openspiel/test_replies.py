"""Replies in OpenSpiel's games: stated moves are read back, others are not."""

import random

import numpy as np
import pytest

from llmarena_envs.adapters import make_adapted
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.openspiel.listing import GAMES

pytestmark = pytest.mark.needs("pyspiel")

FORMS = (
    "{move}",
    "move: {move}",
    "Move: {move}.",
    "I considered {other}.\nmove: {move}",
    "**Move:** {move}",
    "My move is {move}",
    "<think>maybe {other}</think>\nmove: {move}",
    "`{move}`",
    "**{move}**",
    "{move}.",
    "Answer: {move}",
    "\\boxed{{{move}}}",
    "The opponent could answer {other}.\n\nmove: {move}",
    '{{"move": "{move}"}}',
    "<answer>{move}</answer>",
    "```\nmove: {move}\n```",
    "move: {move} because it is strong",
    "move: {move} (it wins)",
)
MARKS = "*+#"
"""Marks of a capture or a check, which may be missing or superfluous."""


def positions(game, seeds, turns):
    """Yields environment, agent and a random legal action of positions of random matches."""
    env, rng = make_adapted(f"openspiel/{game}").unwrapped, np.random.default_rng(0)
    for seed in range(seeds):
        env.reset(seed=seed)
        for _ in range(turns):
            agent = env.agent_selection
            if env.terminations[agent]:
                break
            action = env.random_action(agent, rng)
            yield env, agent, action
            env.step(action)


@pytest.mark.slow_except(8)
@pytest.mark.parametrize("game", GAMES)
def test_stated_moves_are_read_back(game):
    draw = random.Random(1)
    for env, agent, action in positions(game, 2, 60):
        view = env.view(agent)
        names = env.codec.names(view)
        move, other = names[view.legal.index(action)], draw.choice(names)
        reply = draw.choice(FORMS).format(move=move, other=other)
        assert env.parse(reply, agent) == action, reply


@pytest.mark.slow_except(8)
@pytest.mark.parametrize("game", GAMES)
def test_moves_of_other_positions_are_not_read_as_legal_ones(game):
    draw, seen = random.Random(1), set()
    for env, agent, _ in positions(game, 2, 60):
        view = env.view(agent)
        names = env.codec.names(view)
        known = {name.casefold().rstrip(MARKS) for name in names}
        foreign = sorted(name for name in seen if name.casefold().rstrip(MARKS) not in known)
        for move in draw.sample(foreign, min(2, len(foreign))):
            reply = draw.choice(FORMS).format(move=move, other=move)
            with pytest.raises(InvalidReply):
                raise AssertionError(f"{reply!r} was read as {names[view.legal.index(env.parse(reply, agent))]!r}")
        seen |= set(names)


@pytest.mark.parametrize(("reply", "name"), [("move: g1f3", "Nf3"), ("e2e4", "e4"), ("**Move:** Nf3", "Nf3")])
def test_chess_reads_algebraic_notation_and_squares(reply, name):
    env = make_adapted("openspiel/chess").unwrapped
    env.reset(seed=0)
    agent = env.agent_selection
    assert env.format(env.parse(reply, agent), agent) == f"move: {name}"
