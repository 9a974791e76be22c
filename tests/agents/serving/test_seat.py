"""Policies that play from conversations."""

import asyncio
import json
from dataclasses import replace

import numpy as np
import pytest

from agents.baselines.general import Random
from agents.errors import ProviderError
from agents.human import HumanPolicy
from agents.policy import Reply
from agents.serving.chat_request import RequestError, read_request
from agents.serving.seat import ServedPolicy
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.options import OptionError


def served(make_policy, name="tictactoe_v0", **options):
    return ServedPolicy(make_environment(name, options).unwrapped, make_policy)


def conversation(*texts):
    """A request with the texts of user and assistant in turn."""
    messages = [
        {"role": "user" if number % 2 == 0 else "assistant", "content": text} for number, text in enumerate(texts)
    ]
    return read_request(json.dumps({"model": "m", "messages": messages}).encode())


def position(*moves, name="tictactoe_v0"):
    env = make_environment(name, {}).unwrapped
    env.reset(seed=0)
    for move in moves:
        env.step(move)
    return env.observe(env.agent_selection)["text"]


def answer(policy, request):
    async def run():
        try:
            return (await policy.answer(request)).text
        finally:
            await policy.close()

    return asyncio.run(run())


def test_the_last_position_is_played_whatever_is_said_about_it():
    request = conversation(f"Hello.\n{position()}", "X: (2, 2)", f"{position(4, 0)}\n\nGood luck!", "X: 99", "No move.")
    texts = {answer(served(Random), replace(request, seed=seed)) for seed in range(40)}
    assert texts == {f"X: ({row}, {column})" for row in (1, 2, 3) for column in (1, 2, 3)} - {"X: (1, 1)", "X: (2, 2)"}
    assert answer(served(Random), request) == answer(served(Random), request)


def test_the_position_that_an_update_leads_to_is_played():
    first = position()
    update = "Moves since then: X: (2, 2), O: (1, 1)\nBoard:\nO|_|_\n_|X|_\n_|_|_\nIt is your turn."
    texts = {answer(served(Random), replace(conversation(first, "X: (2, 2)", update), seed=seed)) for seed in range(40)}
    assert texts == {f"X: ({row}, {column})" for row in (1, 2, 3) for column in (1, 2, 3)} - {"X: (1, 1)", "X: (2, 2)"}
    with pytest.raises(RequestError, match="in which a player is to move"):
        answer(served(Random), conversation(first, "X: (2, 2)", update.replace("O: (1, 1)", "O: (2, 1)")))


class ByVector:
    """Plays the last legal cell, by the mask."""

    reads = "vector"

    def __call__(self, observation):
        assert observation["observation"].shape == (3, 3, 2)
        return np.flatnonzero(observation["action_mask"])[-1]


def test_a_policy_may_read_vectors():
    assert answer(served(ByVector), conversation(position(8))) == "O: (3, 2)"


class WithMemory:
    """Tells what it has read and lived through."""

    wants_legal = True

    def reset(self, agent, seed):
        self.lived = []

    def recall(self, observation, reply):
        self.lived.append((observation["text"], reply))

    async def __call__(self, observation):
        return Reply(f"{self.lived} {observation['text']} {observation['legal']}", prompt_tokens=7)


def test_a_policy_that_reads_texts_lives_through_the_conversation_of_any_environment():
    policy = served(WithMemory, "hanabi_v0")
    assert answer(policy, conversation("one", "1", "two")) == "[('one', '1')] two []"
    assert answer(policy, conversation("three")) == "[] three []"


@pytest.mark.parametrize("text", ["hi", "", "\0", "You play X.\nMoves so far: none\nBoard:\n", position()[:50]])
def test_a_text_without_a_position_is_refused_with_an_example_of_one(text):
    with pytest.raises(RequestError, match=r"expected a text of tictactoe_v0[^$]*You play X\."):
        answer(served(Random), conversation(text))


def test_it_must_be_the_players_turn():
    env = make_environment("tictactoe_v0", {}).unwrapped
    env.reset(seed=0)
    with pytest.raises(RequestError, match="in which a player is to move"):
        answer(served(Random), conversation(env.observe("player_1")["text"]))


def test_what_cannot_be_served_is_refused_with_what_can():
    with pytest.raises(OptionError, match=r"texts of holdem_v0 .* environments tictactoe_v0, connect_four_v0, bid_v0$"):
        served(Random, "holdem_v0")
    with pytest.raises(OptionError, match="a person cannot be served"):
        served(HumanPolicy)


def failing(observation):
    raise ValueError("no idea")


def test_a_policy_that_fails_is_a_provider_error_and_stays_of_use():
    policy = served(lambda: failing)
    for _ in range(2):
        with pytest.raises(ProviderError, match="no idea"):
            answer(policy, conversation("now"))
