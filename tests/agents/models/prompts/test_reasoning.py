"""What a model thinks reaches nobody: no game, no other player, and not the model itself in later turns."""

import json

import pytest

from agents.baselines.general import FirstLegal
from agents.play import play
from agents.policy import Reply
from agents.turn import TurnSettings
from llmarena_envs import bargain_v0, tictactoe_v0
from llmarena_envs.core.failures import Failure
from tests.agents.models.prompts.script import policy_with


def test_a_move_that_is_only_thought_of_is_none():
    policy, requests = policy_with([Reply("I am not sure.", reasoning="I think\nX: (3, 2)")] * 3)
    settings = TurnSettings(reasks=2, unparsable="forfeit")
    episode = play(tictactoe_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, 0, settings)
    attempts = episode.turns[0].attempts
    assert [(attempt.kind, attempt.reasoning) for attempt in attempts] == [
        (Failure.UNPARSABLE, "I think\nX: (3, 2)")
    ] * 3
    assert "I think" not in json.dumps(requests)


@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize("history", ["single_turn", "full"])
def test_nobody_reads_what_is_thought(tagged, history):
    secret = "SECRET-PLAN"

    def reply(text):
        return Reply(f"<think>{secret}</think>{text}") if tagged else Reply(text, reasoning=secret)

    env = bargain_v0.env()
    players, sent = {}, []
    for agent in env.possible_agents:
        said = [reply("hm"), *[reply("Let us talk about it.")] * 60]
        players[agent], requests = policy_with(said, history=history)
        sent.append(requests)
    episode = play(env, players, 0, TurnSettings(reasks=2))
    assert len(episode.turns) >= 4
    assert all(secret not in turn.read and secret not in str(turn.action) for turn in episode.turns)
    assert all(secret not in json.dumps(request) for requests in sent for request in requests)
    attempts = [attempt for turn in episode.turns for attempt in turn.attempts]
    assert all(secret in (attempt.reply if tagged else attempt.reasoning) for attempt in attempts)
