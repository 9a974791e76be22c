"""Parameters that a model does not take: found out once, left out or renamed, and recorded."""

import asyncio
import json
import logging

import pytest

from agents.errors import ProviderError
from agents.models.llm import LLMPolicy
from agents.models.server.client import Client
from agents.models.server.endpoint import Endpoint
from agents.models.service import ModelService
from tests.agents.llm_calls import OBSERVATION
from tests.agents.models.server.asking_clients import complete, refuse
from tests.support.hostile_server import Answer, hostile_server, json_answer, say

pytestmark = pytest.mark.usefixtures("own_environment")

MESSAGES = [{"role": "system", "content": "the rules"}, {"role": "user", "content": "the text"}]
JOINED = [{"role": "user", "content": "the rules\n\nthe text"}]
LEFT_OUT = "left out"


def refused(message, status=400, **fields):
    return json_answer({"error": {"message": message, **fields}}, status=status)


REFUSALS = {
    "OpenAI: name": (
        refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            code="unsupported_parameter",
            param="max_tokens",
        ),
        {"max_tokens": 9},
        {"max_completion_tokens": 9},
        {"max_tokens": "sent as max_completion_tokens"},
    ),
    "OpenAI: value": (
        refused(
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.",
            code="unsupported_value",
            param="temperature",
        ),
        {"temperature": 0.0, "top_p": 0.5},
        {"top_p": 0.5},
        {"temperature": LEFT_OUT},
    ),
    "in words only": (
        refused("`temperature` is deprecated for this model."),
        {"temperature": 0.0},
        {},
        {"temperature": LEFT_OUT},
    ),
    "Google": (
        json_answer([{"error": {"code": 400, "message": 'Unknown name "seed": Cannot find field.'}}], status=400),
        {"seed": 4, "temperature": 0.0},
        {"temperature": 0.0},
        {"seed": LEFT_OUT},
    ),
    "Mistral": (
        json_answer(
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "max_completion_tokens"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
            status=422,
        ),
        {"max_completion_tokens": 9},
        {"max_tokens": 9},
        {"max_completion_tokens": "sent as max_tokens"},
    ),
    "OpenRouter": (
        refused("Provider returned error", code=400, metadata={"raw": "unsupported parameter: reasoning_effort"}),
        {"reasoning_effort": "low"},
        {},
        {"reasoning_effort": LEFT_OUT},
    ),
    "response format": (
        refused("This model does not support response_format of type json_schema."),
        {"response_format": {"type": "json_schema"}},
        {},
        {"response_format": LEFT_OUT},
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_parameter_is_left_out_or_renamed_from_then_on(name):
    answer, asked, sent, adapted = REFUSALS[name]
    request = {"model": "mock", **asked, "messages": MESSAGES}
    with hostile_server(answer, say("one"), say("two")) as server:
        replies = [response.reply for response in complete(server, request, times=2)]
    assert [reply.text for reply in replies] == ["one", "two"]
    assert server.requests[0].body == request
    expected = {"model": "mock", **sent}
    assert [received.body for received in server.requests[1:]] == [{**expected, "messages": MESSAGES}] * 2
    for reply in replies:
        assert reply.detail["adapted"] == adapted
        assert reply.detail["sent"] == expected


@pytest.mark.parametrize(
    "answer",
    [
        refused("System role not supported"),
        refused("Conversation roles must alternate user/assistant/user/assistant/...", status=500),
        refused("Developer instruction is not enabled; the system role is not supported for models/small"),
        refused(
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            param="messages[0].role",
            code="unsupported_value",
        ),
        json_answer({"detail": "Only user and assistant roles are supported!"}, status=400),
    ],
)
def test_rules_are_joined_to_the_first_message_for_models_without_that_role(answer):
    request = {"model": "mock", "messages": [*MESSAGES, {"role": "assistant", "content": "hm"}]}
    with hostile_server(answer, say("hm")) as server:
        (response,) = complete(server, request)
    assert server.requests[1].body["messages"] == [*JOINED, {"role": "assistant", "content": "hm"}]
    assert response.reply.detail["adapted"] == {"system": "joined to the first message of the user"}
    assert "sent" not in response.reply.detail


def test_a_developers_message_becomes_the_systems_before_it_becomes_the_users():
    request = {"model": "mock", "messages": [{"role": "developer", "content": "the rules"}, MESSAGES[1]]}
    with hostile_server(
        refused("Unknown role: developer"), refused("System role not supported"), say("one"), say("two")
    ) as server:
        complete(server, request, times=2)
    assert [received.body["messages"] for received in server.requests[1:]] == [MESSAGES, JOINED, JOINED]


@pytest.mark.parametrize(
    "answer",
    [
        refused(
            "max_tokens is too large: 99. This model supports at most 9.", param="max_tokens", code="invalid_value"
        ),
        refused("Invalid 'temperature': above maximum value", param="temperature", code="decimal_above_max_value"),
        refused("Unsupported parameter: 'messages'", param="messages", code="unsupported_parameter"),
        refused("Unsupported parameter: 'model'", param="model", code="unsupported_parameter"),
        refused("Unsupported parameter: 'my_field'", param="my_field", code="unsupported_parameter"),
        refused("Unsupported parameter: 'top_p'", param="top_p", code="unsupported_parameter"),
        refused("the temperature is too low"),
        refused("invalid argument: temperature must be at most 1"),
        refused("System overloaded, could not process this message", status=500),
        refused("Unsupported parameter: 'temperature'", status=403),
        refused("System prompts are great", status=400),
        Answer(400, b"<html>temperature not supported"[:20]),
    ],
)
def test_nothing_is_left_out_for_another_reason(answer):
    request = {"model": "mock", "temperature": 0.0, "max_tokens": 99, "my_field": 1, "messages": MESSAGES}
    with hostile_server(answer, say("hm")) as server, pytest.raises(ProviderError):
        complete(server, request)
    assert len(server.requests) == 1


def test_a_limit_of_tokens_is_never_left_out():
    unknown = [refused(f"Unknown parameter: '{name}'") for name in ("max_tokens", "max_completion_tokens")]
    request = {"model": "mock", "max_tokens": 9, "messages": MESSAGES}
    with hostile_server(*unknown, *unknown) as server, pytest.raises(ProviderError):
        complete(server, request)
    assert [set(received.body) & {"max_tokens", "max_completion_tokens"} for received in server.requests] == [
        {"max_tokens"},
        {"max_completion_tokens"},
    ]


def test_a_server_that_refuses_what_was_not_sent_is_not_asked_for_ever():
    answer = refused("Unsupported parameter: 'temperature'", param="temperature", code="unsupported_parameter")
    request = {"model": "mock", "temperature": 0.0, "messages": MESSAGES}
    assert "temperature" in str(refuse(*[answer] * 5, request=request))


def strict_answer(body):
    """Answers like a server that takes neither a temperature nor a seed nor the role of a system."""
    for name in ("temperature", "seed"):
        if name in body:
            return refused(f"Unsupported parameter: '{name}'", param=name, code="unsupported_parameter")
    roles = [message["role"] for message in body["messages"]]
    return refused("System role not supported") if "system" in roles else say("hm")


class Strict:
    """Answers each request of a server by what it holds."""

    def __init__(self):
        self.server = None

    def __iter__(self):
        while True:
            yield strict_answer(self.server.requests[-1].body)


def test_many_at_once_find_out_once(caplog):
    caplog.set_level(logging.INFO, "agents.models.server.abilities")
    strict = Strict()
    with hostile_server(then=strict) as server:
        strict.server = server

        async def run():
            service = ModelService()
            policies = [
                LLMPolicy("mock", base_url=server.url, service=service, send_seed=True, max_attempts=1)
                for _ in range(20)
            ]
            first = await asyncio.gather(*[policy(OBSERVATION) for policy in policies])
            asked = len(server.requests)
            second = await asyncio.gather(*[policy(OBSERVATION) for policy in policies])
            await service.close()
            return [*first, *second], len(server.requests) - asked

        replies, asked_again = asyncio.run(run())
    assert asked_again == 20
    assert {json.dumps(reply.detail["adapted"], sort_keys=True) for reply in replies} == {
        json.dumps({"seed": LEFT_OUT, "system": "joined to the first message of the user", "temperature": LEFT_OUT})
    }
    assert {json.dumps(reply.detail["sent"]) for reply in replies} == {
        '{"model": "mock", "max_completion_tokens": 1024}'
    }
    assert len([record for record in caplog.records if "does not take" in record.getMessage()]) == 3


def test_what_one_model_does_not_take_another_may():
    answer = refused("Unsupported parameter: 'temperature'")
    with hostile_server(answer, say("one"), say("two")) as server:

        async def run():
            client = Client(Endpoint(server.url, "OPENAI_API_KEY"))
            await client.open()
            for model in ("small", "large"):
                await client.complete({"model": model, "temperature": 0.0, "messages": MESSAGES})
            await client.close()

        asyncio.run(run())
    assert ["temperature" in received.body for received in server.requests] == [True, False, True]
