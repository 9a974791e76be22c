"""Keys, addresses and other options of LLMPolicy."""

import asyncio
import json
import logging
import re

import pytest

from agents.models.llm import LLMPolicy
from agents.registry import make_policy
from llmarena_envs.core.options import OptionError
from tests.agents.llm_calls import OBSERVATION, SECRET, ask_once, fail
from tests.support.hostile_server import error, hostile_server, html, json_answer, say

pytestmark = pytest.mark.usefixtures("own_environment")

ECHO = f"Authorization: Bearer {SECRET}"


@pytest.mark.parametrize(
    "answer",
    [
        error(400, message=ECHO),
        error(401, message=f"Incorrect API key provided: {SECRET[:5]}***{SECRET[-4:]}"),
        error(404, message=ECHO),
        error(429, message=ECHO),
        html(500, ECHO),
        html(200, ECHO),
        json_answer({"headers": {"Authorization": ECHO}}),
    ],
)
def test_the_key_is_in_no_error_and_no_log(answer, caplog):
    caplog.set_level(logging.DEBUG)
    failure, requests = fail(answer, answer, max_attempts=2)
    assert requests[0].headers["authorization"] == f"Bearer {SECRET}"
    told = re.sub(r"127\.0\.0\.1:\d+", "the server", str(failure))  # a port may have the same digits
    assert SECRET not in told
    assert SECRET[-4:] not in told
    assert not any(SECRET in record.getMessage() for record in caplog.records)


def test_the_key_is_read_from_the_variable_named(monkeypatch):
    monkeypatch.setenv("OTHER_KEY", " sk-other\n")
    reply, (request,) = ask_once(say("hm"), api_key_env="OTHER_KEY")
    assert request.headers["authorization"] == "Bearer sk-other"
    assert "sk-other" not in json.dumps(reply.detail)


def test_a_server_of_ones_own_needs_no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    _, (request,) = ask_once(say("hm"))
    assert request.headers["authorization"] == "Bearer no-key"


@pytest.mark.parametrize(("key", "is_hidden"), [("1234567", False), ("12345678", True)])
def test_keys_of_eight_characters_and_more_are_hidden(monkeypatch, key, is_hidden):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    failure, _ = fail(error(400, message=f"<{key}>"))
    assert ("<***>" in str(failure)) is is_hidden
    assert (key in str(failure)) is not is_hidden


def test_a_placeholder_for_a_key_leaves_messages_readable(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    failure, _ = fail(error(400, message="the context is exceeded"))
    assert "the context is exceeded" in str(failure)


def test_the_address_may_come_from_the_environment(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with hostile_server(say("hm")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert asyncio.run(make_policy("openai:mock", "tictactoe_v0")(OBSERVATION)).text == "hm"
    assert server.requests[0].body["model"] == "mock"


def test_the_query_of_an_address_is_sent_with_every_request(monkeypatch):
    with hostile_server(say("one"), say("two")) as server:
        address = f"{server.url}?api-version=2024-10-21&region=north%20east"
        asyncio.run(LLMPolicy("mock", base_url=address)(OBSERVATION))
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        asyncio.run(LLMPolicy("mock")(OBSERVATION))
    path = "/v1/chat/completions?api-version=2024-10-21&region=north"
    assert [request.path.replace("%20", "+") for request in server.requests] == [f"{path}+east"] * 2


@pytest.mark.parametrize(
    ("key", "message"),
    [(None, "set the environment variable OPENAI_API_KEY"), ("", "OPENAI_API_KEY"), ("sk-ключ", "printable ASCII")],
)
def test_a_key_that_is_needed_and_not_there(monkeypatch, key, message):
    monkeypatch.delenv("OPENAI_API_KEY")
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(OptionError, match=message) as raised:
        LLMPolicy("gpt")
    assert "ключ" not in str(raised.value)


@pytest.mark.parametrize(
    "options",
    [
        {"model": ""},
        {"model": None},
        {"base_url": "localhost:8000/v1"},
        {"base_url": "http://[::1"},
        {"base_url": 8000},
        {"base_url": f"https://user:{SECRET}@localhost/v1"},
        {"base_url": f"https://localhost/v1?key={SECRET}"},
        {"base_url": f"https://localhost/v1?api-version=1&apiKey={SECRET}"},
        {"base_url": f"https://localhost/v1?access_token={SECRET}"},
        {"base_url": f"https://localhost/v1?Authorization={SECRET}"},
        {"base_url": f"https://localhost/v1?sv=1&sig={SECRET}"},
        {"service": "4"},
        {"api_key_env": f"{SECRET}"},
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": "hot"},
        {"temperature": True},
        {"max_tokens": 0},
        {"max_tokens": 2.5},
        {"max_tokens_field": "tokens"},
        {"timeout": 0},
        {"timeout": float("inf")},
        {"deadline": -1},
        {"max_attempts": 0},
        {"outage": -1},
        {"max_in_flight": 0},
        {"requests_per_minute": 0},
        {"tokens_per_minute": 0.5},
        {"history": "half"},
        {"serialiser": "Human"},
        {"structured": "yes"},
        {"reasoning_effort": 3},
        {"extra": {"response_format": {}}, "structured": True},
        {"extra": {"reasoning_effort": "low"}, "reasoning_effort": "high"},
        {"system_role": "assistant"},
        {"send_seed": 1},
        {"stream": "yes"},
        {"extra": [1]},
        {"extra": {"messages": []}},
        {"extra": {"stream": True}},
        {"extra": {"temperature": 1}},
        {"extra": {"max_tokens": 7}},
        {"extra": {"seed": 7}, "send_seed": True},
        {"extra": {"stop": {1, 2}}},
        {"extra": {"top_p": float("nan")}},
        {"extra": {"api_key": SECRET}},
        {"extra": {"apiKey": SECRET}},
        {"extra": {"tools": [{"headers": {"Authorization": f"Bearer {SECRET}"}}]}},
        {"extra": {"proxy": {"access_token": SECRET, "user": "me"}}},
    ],
)
def test_bad_options_say_so_and_show_no_key(options):
    with pytest.raises(OptionError) as raised:
        LLMPolicy(**{"model": "mock", **options})
    assert SECRET not in str(raised.value)
    assert re.match(r"\w+: .*(expected|cannot be given here)", str(raised.value))


def test_fields_of_a_request_that_only_sound_like_secrets_are_sent():
    extra = {
        "prompt_cache_key": "a",
        "chat_template_kwargs": {"bos_token": "<s>", "password": ""},
        "metadata": {"author": "me", "language_code": "en"},
        "response_format": {"properties": {"api_key": {"type": "string"}}},
        "max_secret": 3,
    }
    assert LLMPolicy("mock", extra=extra)._parameters.items() >= extra.items()
