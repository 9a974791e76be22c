"""The connections of LLMPolicy: shared, and closed in the end."""

import asyncio
import itertools
import subprocess
import sys

import pytest

from agents.errors import ProviderError
from agents.models import ModelService
from agents.models.llm import LLMPolicy
from agents.player import Player
from tests.agents.llm_calls import OBSERVATION, ask_once
from tests.support.hostile_server import HANG, RESET, hostile_server, say

pytestmark = pytest.mark.usefixtures("own_environment")


@pytest.fixture
def clients_made(monkeypatch):
    import openai

    made = []

    class Counted(openai.AsyncOpenAI):
        def __init__(self, **options):
            made.append(self)
            super().__init__(**options)

    monkeypatch.setattr(openai, "AsyncOpenAI", Counted)
    return made


@pytest.mark.slow
def test_policies_with_one_pool_share_a_client_and_wait_for_no_free_connection(clients_made):
    many = 150
    with (
        hostile_server(then=itertools.repeat(say("hm"))) as calm,
        hostile_server(*[say("hm")] * 3 * many, then=itertools.repeat(say("hm", together=many))) as server,
    ):

        async def run():
            pool = ModelService()
            policies = [LLMPolicy("mock", base_url=server.url, service=pool) for _ in range(many)]
            other = LLMPolicy("mock", base_url=calm.url, service=pool)
            for _ in range(3):  # it is learned what the server bears
                await asyncio.gather(*[policy(OBSERVATION) for policy in policies])
            replies = await asyncio.gather(*[policy(OBSERVATION) for policy in [*policies, other]])
            for policy in policies:
                await policy.close()
            assert not any(client.is_closed() for client in clients_made)
            await pool.close()
            return replies

        replies = asyncio.run(run())
    assert len(clients_made) == 2
    assert server.busiest == many
    assert {reply.calls for reply in replies} == {1}
    assert all(client.is_closed() for client in clients_made)


def test_a_policy_without_a_pool_has_a_client_of_its_own_and_closes_it(clients_made):
    with hostile_server(then=itertools.repeat(say("hm"))) as server:

        async def run():
            first, second = (LLMPolicy("mock", base_url=server.url) for _ in range(2))
            await first(OBSERVATION)
            await second(OBSERVATION)
            await first.close()
            assert [client.is_closed() for client in clients_made] == [True, False]
            await second.close()

        asyncio.run(run())
    assert [client.is_closed() for client in clients_made] == [True, True]


def test_a_pool_serves_one_event_loop_at_a_time():
    pool = ModelService()
    with hostile_server(then=itertools.repeat(say("hm"))) as server:
        policy = LLMPolicy("mock", base_url=server.url, service=pool)

        async def run_in_two_loops():
            await policy(OBSERVATION)
            with pytest.raises(ProviderError, match="one event loop at a time"):
                await asyncio.to_thread(asyncio.run, Player(policy).ask(OBSERVATION))
            assert (await policy(OBSERVATION)).text == "hm"

        asyncio.run(run_in_two_loops())
        asyncio.run(policy(OBSERVATION))


def test_each_event_loop_has_a_client_that_ends_with_it(clients_made):
    with hostile_server(say("one"), say("two")) as server:
        policy = LLMPolicy("mock", base_url=server.url)
        for _ in range(2):
            asyncio.run(policy(OBSERVATION))
    assert len(clients_made) == 2
    assert all(client.is_closed() for client in clients_made)


def test_closing_is_safe_at_any_time(clients_made):
    with hostile_server(say("one"), say("two")) as server:
        policy = LLMPolicy("mock", base_url=server.url)

        async def run():
            await policy.close()
            await policy(OBSERVATION)
            await policy.close()
            await policy.close()
            await policy(OBSERVATION)

        asyncio.run(run())
        asyncio.run(policy.close())
    assert [client.is_closed() for client in clients_made] == [True, True]


def test_a_cancelled_request_leaves_the_client_usable():
    with hostile_server(HANG, say("X: 1")) as server:
        policy = LLMPolicy("mock", base_url=server.url)

        async def run():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await policy(OBSERVATION)
            return await policy(OBSERVATION)

        assert asyncio.run(run()).text == "X: 1"


def test_without_aiohttp_the_default_transport_serves(monkeypatch):
    import openai

    def missing(**options):
        raise RuntimeError("To use the aiohttp client you must have installed the package with the `aiohttp` extra")

    monkeypatch.setattr(openai, "DefaultAioHttpClient", missing)
    reply, requests = ask_once(RESET, say("X: 1"))
    assert (reply.text, len(requests)) == ("X: 1", 2)


def run_python(code, *arguments):
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_sdk_is_imported_at_the_first_call():
    code = (
        "import sys, agents.models.llm as m; m.LLMPolicy('m', base_url='http://h/v1'); print('openai' in sys.modules)"
    )
    assert run_python(code).stdout == "False\n"


@pytest.mark.slow
def test_nothing_is_left_open_by_a_policy_that_was_never_closed():
    code = """
import asyncio, gc, sys
from agents.models.llm import LLMPolicy
policies = [LLMPolicy("mock", base_url=sys.argv[1]) for _ in range(3)]
async def run():
    for policy in policies:
        await policy({"rules": "", "text": ""})
asyncio.run(run())
del policies
gc.collect()
"""
    with hostile_server(then=itertools.repeat(say("hm"))) as server:
        done = run_python(code, server.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(server.requests) == 3
