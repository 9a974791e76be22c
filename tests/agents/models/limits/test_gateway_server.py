"""A service against a real server that fails: every fault passes, and so does its death."""

import asyncio
import gc
import threading

import pytest

from agents.models import ModelService
from agents.models.limits import adaptive_limiter, retry
from agents.models.llm import LLMPolicy
from agents.models.preflight import check_models
from tests.agents.llm_calls import OBSERVATION, SECRET
from tests.support import fault_server as faults
from tests.support.fault_server import fault_server
from tests.support.hostile_server import error, hostile_server, html, say

pytestmark = pytest.mark.usefixtures("own_environment")

EVERY_FAULT = [faults.HTTP_429, faults.busy(0.01), faults.HTTP_503, *faults.FAILURES]
"""None of them is a reply in time."""


def ask_many(server, number, **options):
    """Asks many policies of one service once each, all at the same time."""

    async def run():
        service = ModelService()
        policies = [LLMPolicy("mock", base_url=server.url, service=service, **options) for _ in range(number)]
        try:
            return await asyncio.gather(*[policy(OBSERVATION) for policy in policies])
        finally:
            await service.close()

    return asyncio.run(run())


@pytest.mark.parametrize("fault", EVERY_FAULT, ids=lambda fault: fault.name)
def test_a_fault_passes(fault):
    with fault_server(lambda request: fault if request.number == 0 else faults.OK) as server:
        (reply,) = ask_many(server, 1, timeout=1.0)
    assert (reply.text, reply.calls) == ("ready", 2)


@pytest.mark.parametrize("fault", [faults.WRONG_MODEL, faults.MEGABYTE], ids=lambda fault: fault.name)
def test_an_odd_reply_is_a_reply(fault):
    with fault_server(lambda request: fault) as server:
        (reply,) = ask_many(server, 1)
    assert (reply.text.strip(), reply.calls) == ("ready", 1)


@pytest.mark.slow
def test_many_calls_pass_a_server_that_does_everything_wrong():
    def plan(request):
        return EVERY_FAULT[request.number // 3 % len(EVERY_FAULT)] if request.number % 3 == 0 else faults.OK

    with fault_server(plan) as server:
        replies = ask_many(server, 100, timeout=0.5, max_attempts=20)
    assert {reply.text for reply in replies} == {"ready"}
    assert server.counts["ok"] >= 100


@pytest.mark.slow
def test_a_real_limit_of_requests_a_second(monkeypatch):
    monkeypatch.setattr(adaptive_limiter, "FIRST_COOL_DOWN", 0.5)
    with fault_server(rate=40) as server:
        replies = ask_many(server, 120)
    assert len(replies) == 120
    assert server.counts["429"] < 120  # of those at once in the beginning, and hardly one later


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_server_that_dies_and_comes_back_loses_no_call(monkeypatch):
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(adaptive_limiter, "FIRST_COOL_DOWN", 0.1)
    with fault_server(latency=0.02) as server:
        died = threading.Event()

        def restart():
            died.wait(30)
            server.start()

        async def run():
            service = ModelService()
            policies = [LLMPolicy("mock", base_url=server.url, service=service, max_attempts=3) for _ in range(20)]

            async def play(policy):
                return [(await policy(OBSERVATION)).text for _ in range(5)]

            games = asyncio.gather(*[play(policy) for policy in policies])
            await asyncio.sleep(0.1)
            await asyncio.to_thread(server.stop)
            asyncio.get_running_loop().call_later(0.3, died.set)
            try:
                return await games
            finally:
                await service.close()

        helper = threading.Thread(target=restart)
        helper.start()
        games = asyncio.run(run())
        helper.join()
    gc.collect()  # a server that stops drops connections it has just accepted: the warnings are to come here, not in a later test
    assert games == [["ready"] * 5] * 20


def preflight(url, **options):
    async def run():
        service = ModelService()
        policies = {name: LLMPolicy("mock", base_url=url, service=service, **options) for name in ("one", "two")}
        try:
            return await check_models({**policies, "scripted": object()})
        finally:
            await service.close()

    return asyncio.run(run())


def test_a_preflight_asks_a_model_once_for_all_policies():
    with hostile_server(say("ready", "length")) as server:
        assert preflight(server.url, max_tokens=5000) == {}
    (request,) = server.requests
    assert request.body["max_completion_tokens"] == 16


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([error(401)], "check the key in the variable that api_key_env names"),
        ([html(200)] * 3, "check base_url"),
        ([error(500)] * 3, "check base_url, and that the server is running"),
        ([error(400)], "HTTP 400"),
    ],
)
def test_a_preflight_says_what_to_check(monkeypatch, script, words):
    monkeypatch.setattr("agents.models.preflight.PAUSE", 0.01)
    with hostile_server(*script) as server:
        failures = preflight(server.url)
    assert set(failures) == {"one", "two"}
    assert words in str(failures["one"])
    assert f"mock at {server.url}" in str(failures["one"])
    assert SECRET not in str(failures["one"])
    assert len(server.requests) == len(script)


def test_a_preflight_finds_that_no_server_listens(monkeypatch):
    monkeypatch.setattr("agents.models.preflight.PAUSE", 0.01)
    with fault_server() as server:
        server.stop()
        failures = preflight(server.url)
    assert "connection refused" in str(failures["two"])
    assert "check base_url, and that the server is running" in str(failures["two"])


@pytest.mark.parametrize("script", [[error(503)] * 5 + [say("ready")], [error(429)]], ids=["loading", "busy"])
def test_a_preflight_waits_for_a_server_that_loads_and_takes_a_busy_one_as_there(monkeypatch, script):
    monkeypatch.setattr("agents.models.preflight.PAUSE", 0.01)
    with hostile_server(*script) as server:
        assert preflight(server.url) == {}
    assert len(server.requests) == len(script)


def test_a_preflight_waits_for_no_server_for_ever(monkeypatch):
    monkeypatch.setattr("agents.models.preflight.PAUSE", 0.01)
    monkeypatch.setattr("agents.models.preflight.LOADING_SECONDS", 0.1)
    with fault_server(lambda request: faults.HTTP_503) as server:
        assert "HTTP 503" in str(preflight(server.url)["one"])
