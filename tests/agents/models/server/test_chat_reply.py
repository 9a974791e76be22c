"""What is read from a chat completion."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ProviderError
from agents.models.server.chat_reply import read_reply
from agents.policy import Reply
from llmarena_envs import connect_four_v0
from llmarena_envs.core.failures import Failure
from tests.support.hostile_server import completion

TEXT = {"type": "text", "text": "X: 1"}


def calling(*calls, content=None):
    functions = [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in calls]
    return completion({"content": content, "tool_calls": functions}, "tool_calls")


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (completion({"content": "X: 1"}, None), Failure.OK, "X: 1"),
        (completion({"content": "X: 1"}, "END_TURN"), Failure.OK, "X: 1"),
        (completion({"content": [TEXT]}), Failure.OK, "X: 1"),
        (completion({"content": [{"type": "text", "text": "X:"}, " 1"]}), Failure.OK, "X: 1"),
        (completion({"content": [{"type": "image_url", "image_url": {}}]}), Failure.EMPTY, ""),
        (completion({"content": []}), Failure.EMPTY, ""),
        (completion({"content": [{"type": "refusal", "refusal": "no"}]}), Failure.REFUSAL, "no"),
        (completion({"content": None, "refusal": "no"}, None), Failure.REFUSAL, "no"),
        (completion({"content": "X:"}, "SAFETY"), Failure.REFUSAL, "X:"),
        (completion({"content": None}, "length"), Failure.TRUNCATED, ""),
        (completion({"content": "X: (1"}, "MAX_TOKENS"), Failure.TRUNCATED, "X: (1"),
        (calling(("move", '{"cell": 4}')), Failure.OK, '{"name": "move", "arguments": {"cell": 4}}'),
        (calling(("move", {"cell": 4})), Failure.OK, '{"name": "move", "arguments": {"cell": 4}}'),
        (calling(("move", "cell 4")), Failure.OK, '{"name": "move", "arguments": "cell 4"}'),
        (calling(("move", "{}"), content="hm"), Failure.OK, 'hm\n{"name": "move", "arguments": {}}'),
        (calling(("move", "")), Failure.EMPTY, ""),
        (calling(("move", None), (7, "{}")), Failure.EMPTY, ""),
        (
            completion({"content": None, "function_call": {"name": "move", "arguments": "{}"}}, "function_call"),
            Failure.OK,
            '{"name": "move", "arguments": {}}',
        ),
    ],
)
def test_kinds(value, kind, text):
    reply = read_reply(value)
    assert (reply.kind, reply.text) == (kind, text)


def test_a_call_of_a_tool_is_a_move_that_games_read():
    env = connect_four_v0.env()
    env.reset(seed=0)
    text = read_reply(calling(("drop_disc", '{"column": 4}'))).text
    assert env.unwrapped.parse(text, "player_0") == env.unwrapped.parse("X: 4", "player_0")


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "X: 1", "reasoning_content": "hm"}, "X: 1", "hm"),
        ({"content": "X: 1", "reasoning": "hm", "reasoning_details": [{"text": "hm"}]}, "X: 1", "hm"),
        (
            {
                "content": "X: 1",
                "reasoning_details": [
                    {"type": "reasoning.summary", "summary": "h"},
                    {"type": "reasoning.text", "text": "m"},
                    {"type": "reasoning.encrypted", "data": "secret"},
                ],
            },
            "X: 1",
            "hm",
        ),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, TEXT]}, "X: 1", "hm"),
        ({"content": [{"type": "reasoning", "text": "hm"}, TEXT]}, "X: 1", "hm"),
        ({"content": "<think>hm</think>X: 1"}, "<think>hm</think>X: 1", ""),
        ({"content": "X: 1", "reasoning": 7, "reasoning_content": None}, "X: 1", ""),
    ],
)
def test_reasoning_is_kept_apart(message, text, reasoning):
    reply = read_reply(completion(message))
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_a_limit_reached_while_reasoning_is_told_apart():
    details = [
        read_reply(completion(message, "length")).detail
        for message in ({"content": "", "reasoning": "hm"}, {"content": "X", "reasoning": "hm"}, {"content": ""})
    ]
    assert [detail.get("cut_in") for detail in details] == ["reasoning", None, None]


USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


@pytest.mark.parametrize(
    ("usage", "prompt", "written", "cached", "reasoning"),
    [
        (USAGE, 11, 5, None, 0),
        ({**USAGE, "prompt_tokens_details": {"cached_tokens": 8}}, 11, 5, 8, 0),
        ({**USAGE, "prompt_cache_hit_tokens": 7}, 11, 5, 7, 0),
        ({**USAGE, "completion_tokens_details": {"reasoning_tokens": 3}}, 11, 5, None, 3),
        ({**USAGE, "completion_tokens_details": {"reasoning_tokens": 9}, "total_tokens": 25}, 11, 14, None, 9),
        (
            {**USAGE, "completion_tokens_details": {"reasoning_tokens": 0}, "prompt_tokens_details": None},
            11,
            5,
            None,
            0,
        ),
        ({"prompt_tokens": 0}, 0, None, None, 0),
        ({"prompt_tokens": -1, "completion_tokens": 1.5}, None, None, None, 0),
        ({"prompt_tokens": True, "completion_tokens": "5"}, None, None, None, 0),
        ({"prompt_tokens": 10**40, "completion_tokens": None}, None, None, None, 0),
        ({}, None, None, None, 0),
        (None, None, None, None, 0),
        ([], None, None, None, 0),
        ("11", None, None, None, 0),
        (..., None, None, None, 0),
    ],
)
def test_tokens_that_are_not_counted_are_unknown(usage, prompt, written, cached, reasoning):
    reply = read_reply(completion({"content": "X: 1"}, usage=usage))
    counts = (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, reply.reasoning_tokens)
    assert counts == (prompt, written, cached, reasoning)


@pytest.mark.parametrize("message", [{"content": "X", "reasoning": "hm"}, {"content": "<think>hm</think>X"}])
def test_reasoning_that_is_not_counted_is_unknown(message):
    assert read_reply(completion(message)).reasoning_tokens is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PART = st.fixed_dictionaries(
    {}, optional={"type": st.sampled_from(["text", "thinking", "refusal"]), "text": JSON, "thinking": JSON}
)
CALL = st.fixed_dictionaries({}, optional={"function": st.fixed_dictionaries({"name": JSON, "arguments": JSON}) | JSON})
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "content": JSON | st.lists(PART | JSON, max_size=3),
        "refusal": JSON,
        "reasoning": JSON,
        "reasoning_details": JSON,
        "tool_calls": st.lists(CALL | JSON, max_size=3),
        "function_call": JSON,
        "error": JSON,
    },
)
CHOICE = st.fixed_dictionaries(
    {"message": MESSAGE | JSON}, optional={"finish_reason": st.sampled_from(["stop", "length"]) | JSON}
)
USAGES = st.dictionaries(st.sampled_from([*USAGE, "prompt_tokens_details", "completion_tokens_details"]), JSON)
ERROR = st.fixed_dictionaries(
    {}, optional={"message": JSON, "code": JSON, "type": JSON, "param": JSON, "metadata": JSON}
)
COMPLETION = st.fixed_dictionaries(
    {"choices": st.lists(CHOICE, min_size=1, max_size=2)},
    optional={"usage": USAGES | JSON, "model": JSON, "error": ERROR},
)


@given(JSON | COMPLETION | st.fixed_dictionaries({"error": ERROR | JSON}))
def test_whatever_json_comes_is_a_reply_or_a_failure_of_the_provider(value):
    try:
        reply = read_reply(value)
    except ProviderError as failure:
        str(failure).encode()
        assert failure.status is not None
        return
    assert isinstance(reply, Reply)
    json.dumps([reply.text, reply.reasoning, reply.detail], ensure_ascii=False).encode()
    for count in (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, reply.reasoning_tokens):
        assert count is None or 0 <= count <= 2 * 10**12
