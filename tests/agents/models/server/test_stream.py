"""Streamed replies: joined into whole ones wherever they are cut, and never taken for whole when they stop."""

import asyncio
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from agents.models.server.chat_reply import read_reply
from agents.models.server.stream import EventReader, read_stream
from llmarena_envs.core.failures import Failure
from tests.agents.llm_calls import ask_once
from tests.agents.models.server.asking_clients import REQUEST, TALK, complete, refuse, respond
from tests.support.hostile_server import HANG, Answer, error, hostile_server, json_answer, say

pytestmark = pytest.mark.usefixtures("own_environment")

EVENTS = {"Content-Type": "text/event-stream; charset=utf-8"}
USAGE = {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5}}


def piece(finish_reason=None, **delta):
    return {"id": "1", "model": "mock", "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def events(*values, done=True, line="\n"):
    texts = [value if isinstance(value, str) else f"data: {json.dumps(value, ensure_ascii=False)}" for value in values]
    return (line * 2).join([*texts, *(["data: [DONE]"] if done else []), ""]).encode()


def stream(*values, done=True, **how):
    return Answer(body=events(*values, done=done), headers=EVENTS, **how)


def read(*chunks):
    async def cut():
        for chunk in chunks:
            yield chunk

    return read_reply(asyncio.run(read_stream(cut())))


WHOLE = (
    piece(role="assistant", content=""),
    ": keep-alive",
    piece(reasoning_content="思"),
    piece(reasoning_content="考"),
    piece(content="井: "),
    piece(content="(1, 2)"),
    piece("stop"),
    USAGE,
)


@given(st.lists(st.integers(0, len(events(*WHOLE))), max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_it_does_not_matter_where_a_stream_is_cut(cuts, line, done):
    body = events(*WHOLE, done=done, line=line)
    borders = [0, *sorted(cuts), len(body)]
    reply = read(*[body[start:end] for start, end in itertools.pairwise(borders)])
    assert (reply.text, reply.reasoning, reply.kind) == ("井: (1, 2)", "思考", Failure.OK)
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 5)


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"data: ", b"\n", b"\n\n", b"{}", b"data: {}\n\n"])))
def test_whatever_bytes_come_the_data_are_those_of_one_piece(chunks):
    def data(pieces):
        reader = EventReader()
        try:
            return [data for piece in pieces for data in reader.feed(piece)] + reader.end()
        except ValueError:
            return None

    assert data(chunks) == data([b"".join(chunks)])


def test_a_streamed_reply_is_one_like_any_other():
    with hostile_server(stream(*WHOLE), stream(*WHOLE)) as server:
        first, second = complete(server, times=2, idle=5.0)
    assert first.reply == second.reply
    assert first.reply.text == "井: (1, 2)"
    assert first.reply.detail == {"finish_reason": "stop", "model": "mock"}
    assert server.requests[0].body == {**REQUEST, "stream": True, "stream_options": {"include_usage": True}}
    assert server.connections == 1


def test_calls_of_tools_come_in_pieces():
    def call(**function):
        return piece(tool_calls=[{"index": 0, "function": function}])

    reply = read(
        events(call(name="move", arguments=""), call(arguments='{"cell"'), call(arguments=": 4}"), piece("tool_calls"))
    )
    assert reply.text == '{"name": "move", "arguments": {"cell": 4}}'


def test_content_comes_in_parts():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply = read(events(piece(content=[thought]), piece(content="X: "), piece(content="1"), piece("stop")))
    assert (reply.text, reply.reasoning) == ("X: 1", "hm")


def test_a_cut_reply_is_cut_and_a_server_may_keep_silent_about_the_end():
    assert read(events(piece("length", content="X"))).kind is Failure.TRUNCATED
    assert read(events(piece("stop", content="X"), done=False)).kind is Failure.OK
    assert read(events(piece(content="X"))).kind is Failure.OK


@pytest.mark.parametrize(
    "answer",
    [
        stream(piece(content="X: 1"), done=False),
        stream(piece("", content="X: 1"), done=False),
        stream(piece("stop", content="X: 1"), promised=10_000),
        stream(piece(content="X: 1"), "data: {", done=True),
        stream(piece(content="X: 1"), "data: [1]"),
        stream(piece(content="X: 1"), 'data: "\ud7ff"'.replace("\ud7ff", "x")),
        stream(piece(content="X: 1"), {"error": {"message": "upstream", "code": 502}}),
        stream({"error": {"message": "upstream"}}, done=False),
        stream(piece("error", content="X: 1")),
        stream(done=True),
        stream(done=False),
        Answer(body=b"data: \xff\n\n", headers=EVENTS),
    ],
    ids=range(12),
)
def test_a_stream_that_fails_is_asked_again(answer):
    assert isinstance(refuse(answer, idle=5.0), TransientError)
    reply, requests = ask_once(answer, stream(piece("stop", content="X: 2")), stream=True)
    assert (reply.text, reply.calls, len(requests)) == ("X: 2", 2, 2)


def test_an_error_in_a_stream_keeps_its_meaning():
    assert refuse(stream(piece(content="X"), {"error": {"code": "insufficient_quota"}}), idle=5.0).fatal
    too_long = stream({"error": {"code": "context_length_exceeded", "message": "too long"}})
    assert respond(too_long, request={**REQUEST, "messages": TALK}, idle=5.0).reply.kind is Failure.TRUNCATED


@pytest.mark.parametrize("answer", [stream(*WHOLE, drip=30.0), HANG])
def test_a_stream_that_falls_silent_is_given_up(answer):
    failure = refuse(answer, idle=0.3)
    assert isinstance(failure, TransientError)
    assert failure.status is CallStatus.TIMEOUT
    assert "0.3 s" in str(failure)


@pytest.mark.slow
def test_a_slow_stream_is_waited_for_beyond_the_time_of_silence():
    body = stream(piece("stop", content="X: 1"))
    reply, _ = ask_once(Answer(body=body.body, headers=EVENTS, drip=0.01), stream=True, timeout=0.5, deadline=60)
    assert reply.text == "X: 1"


def test_a_stream_is_bounded(monkeypatch):
    monkeypatch.setattr("agents.models.server.connection.MAX_STREAM", 10_000)
    assert "more than 10000 bytes" in str(refuse(stream(*[piece(content="x" * 100)] * 100), idle=5.0))


def test_a_server_that_does_not_stream_is_read_as_it_answers():
    assert respond(say("X: 1"), idle=5.0).reply.text == "X: 1"


def test_a_server_that_streams_unasked_is_read_too():
    assert respond(stream(piece("stop", content="X: 1"))).reply.text == "X: 1"


def test_a_server_that_counts_no_tokens_of_streams_is_asked_without():
    refused = json_answer({"error": {"message": "Unknown parameter: 'stream_options'"}}, status=400)
    with hostile_server(refused, stream(piece("stop", content="X: 1"))) as server:
        (response,) = complete(server, idle=5.0)
    assert "stream_options" not in server.requests[1].body
    assert response.reply.detail["adapted"] == {"stream_options": "left out"}
    assert response.reply.prompt_tokens is None


def test_errors_instead_of_streams_are_sorted_like_any_other():
    with pytest.raises(ProviderError, match="HTTP 503"):
        ask_once(error(503), stream=True, max_attempts=1)
