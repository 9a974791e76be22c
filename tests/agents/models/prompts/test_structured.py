"""Structured output: what is asked for, and that every game reads what comes of it."""

import json

import numpy as np
import pytest

from agents.models.prompts.structured import response_format
from agents.play import play
from llmarena_envs import tictactoe_v0
from llmarena_envs.catalogue import CATALOGUE, load_environment
from tests.agents.models.prompts.script import policy_with


def schema_of(parameters):
    return parameters["response_format"]["json_schema"]["schema"]["properties"]["move"]


def test_a_match_is_played_by_objects_and_each_turn_allows_what_is_legal():
    moves = ['{"move": "X: (2, 2)"}', '```json\n{"move": "X: (1, 1)"}\n```', '{"move": "X: (3, 3)"}']
    policy, requests = policy_with(moves, structured=True)
    other, plain = policy_with(["O: (1, 2)", "O: (1, 3)"])
    episode = play(tictactoe_v0.env(), {"player_0": policy, "player_1": other}, seed=0)
    assert episode.rewards == {"player_0": 1.0, "player_1": -1.0}
    allowed = [schema_of(request)["enum"] for request in requests]
    assert [len(moves) for moves in allowed] == [9, 7, 5]
    assert "X: (2, 2)" in allowed[0]
    assert "X: (2, 2)" not in allowed[1]
    assert all("response_format" not in request for request in plain)
    assert "response_format" in episode.turns[0].attempts[0].detail["request"]


def test_a_list_that_is_cut_off_and_a_free_text_bind_nobody():
    mask = np.ones(237, np.int8)
    assert schema_of(response_format({"action_mask": mask, "legal": ["a"] * 200})) == {"type": "string"}
    assert schema_of(response_format({"action_mask": mask[:2], "legal": ["a", "b"]}))["enum"] == ["a", "b"]
    assert response_format({"text": "say something", "legal": ["a"]}) == {}


@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_game_of_listed_moves_reads_the_object(name, language):
    env = load_environment(name)(language=language)
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    read = 0
    while not any(env.terminations.values()) and read < 30:
        agent = env.agent_selection
        observation, view = env.observe(agent), env.view(agent)
        if "action_mask" not in observation:
            return
        for move in view.legal:
            said = json.dumps({"move": env.codec.format(move, view)})
            assert env.write_action(move, agent) == env.parse(said, agent)
            read += 1
        env.step(env.random_action(agent, rng))
    assert read
