"""LLMPolicy against a real server: `transformers serve` with a tiny model made on the spot."""

import asyncio
import itertools

import pytest

from agents.errors import ProviderError
from agents.models.calls import CallStatus
from agents.models.llm import LLMPolicy
from agents.play import play
from llmarena_envs import tictactoe_v0
from llmarena_envs.core.failures import Failure
from tests.support.model_server import running_server
from tests.support.tiny_model import positions


@pytest.fixture(scope="module")
def server(tiny_model):
    with running_server(tiny_model) as server:
        yield server


def observations(count):
    """Returns what is read in ``count`` positions of both board games."""
    read = [messages for messages, _ in itertools.islice(positions(7), count)]
    return [{"rules": rules["content"], "text": text["content"]} for rules, text in read]


def ask(server, many, **options):
    policy = LLMPolicy(server.model, base_url=server.url, **{"max_tokens": 24, "max_attempts": 3, **options})

    async def run():
        replies = await asyncio.gather(*[policy(observation) for observation in many])
        await policy.close()
        return replies

    return asyncio.run(run())


def test_a_chat_completion_comes_with_its_usage(server):
    (reply,) = ask(server, observations(1))
    assert reply.kind is Failure.OK
    assert reply.text.strip()
    assert reply.prompt_tokens > 50
    assert 0 < reply.completion_tokens <= 24
    assert reply.calls == 1
    assert reply.detail["finish_reason"] == "stop"
    assert reply.detail["model"].startswith(server.model)


def test_temperature_zero_repeats_itself(server):
    many = observations(4)
    assert [reply.text for reply in ask(server, many)] == [reply.text for reply in ask(server, many)]


@pytest.mark.slow
def test_a_seed_repeats_a_reply_and_another_seed_gives_another(server):
    (observation,) = observations(1)

    def sample(seed):
        policy = LLMPolicy(server.model, base_url=server.url, temperature=1.5, max_tokens=24, send_seed=True)

        async def run():
            policy.reset("player_0", seed)
            return [(await policy(observation)).text for _ in range(6)]

        return asyncio.run(run())

    assert sample(1) == sample(1)
    assert len({tuple(sample(seed)) for seed in range(3)}) > 1


@pytest.mark.parametrize("field", ["max_completion_tokens", "max_tokens"])
def test_a_reply_cut_by_the_token_limit_says_so(server, field):
    (reply,) = ask(server, observations(1), max_tokens=2, max_tokens_field=field)
    assert (reply.kind, reply.completion_tokens) == (Failure.TRUNCATED, 2)


def test_an_unknown_model_is_fatal(server):
    policy = LLMPolicy("no-such-model", base_url=server.url)
    with pytest.raises(ProviderError, match=r"HTTP 400.*no-such-model") as raised:
        asyncio.run(policy(observations(1)[0]))
    assert (raised.value.fatal, raised.value.status) == (True, CallStatus.UNKNOWN_MODEL)


def test_a_wrong_path_is_fatal_and_says_what_the_right_one_may_be(server):
    policy = LLMPolicy(server.model, base_url=server.url.removesuffix("/v1"))
    with pytest.raises(ProviderError, match=r"HTTP 404.*/v1") as raised:
        asyncio.run(policy(observations(1)[0]))
    assert raised.value.fatal


def test_a_streamed_reply_is_the_same(server):
    many = observations(3)
    whole, streamed = ask(server, many), ask(server, many, stream=True)
    assert [reply.text for reply in whole] == [reply.text for reply in streamed]
    assert [reply.kind for reply in whole] == [reply.kind for reply in streamed]
    assert all(0 < reply.completion_tokens <= 24 for reply in streamed)


def test_eight_requests_at_once(server):
    replies = ask(server, observations(8))
    assert len(replies) == 8
    assert all(reply.prompt_tokens > 50 and reply.calls == 1 for reply in replies)


def test_some_replies_are_legal_and_some_are_not(server):
    outcomes = set()
    for seed in range(40):
        policies = {
            agent: LLMPolicy(server.model, base_url=server.url, temperature=1.0, max_tokens=24, send_seed=True)
            for agent in ("player_0", "player_1")
        }
        episode = play(tictactoe_v0.env(), policies, seed=seed)
        outcomes |= {attempt.kind for turn in episode.turns for attempt in turn.attempts}
        assert sum(attempt.completion_tokens for turn in episode.turns for attempt in turn.attempts) > 0
        if {Failure.OK, Failure.ILLEGAL} <= outcomes:
            break
    assert {Failure.OK, Failure.ILLEGAL} <= outcomes


def test_a_whole_conversation_is_sent_and_answered(server):
    policy = LLMPolicy(server.model, base_url=server.url, history="full", max_tokens=24)
    env = tictactoe_v0.env()
    env.reset(seed=0)
    observation = env.observe("player_0")

    async def run():
        first = await policy(observation)
        told = {**observation, "attempt": 1, "feedback": "choose another cell"}
        return first, await policy(told), await policy(observation)

    first, second, third = asyncio.run(run())
    assert first.prompt_tokens < second.prompt_tokens < third.prompt_tokens
