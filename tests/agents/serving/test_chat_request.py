"""Bodies of requests, most of them hostile."""

import json

import pytest

from agents.policy import Reply
from agents.serving.chat_request import MAX_MESSAGES, RequestError, read_request
from agents.serving.chat_response import completion, completion_stream

USER = {"role": "user", "content": "now"}


def body(*messages, **fields):
    return json.dumps({"model": "m", "messages": [*messages], **fields}).encode()


def test_a_conversation_is_taken_apart():
    request = read_request(
        body(
            {"role": "system", "content": "rules"},
            {"role": "developer", "content": "more rules"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "first"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": None},
            {"role": "assistant", "content": "said"},
            {"role": "user", "content": "now\r\nhere"},
            seed=-1,
            stream=True,
            stream_options={"include_usage": True},
            temperature=0.0,
        )
    )
    assert request.rules == "rules\n\nmore rules"
    assert request.turns == (("first\n\na\nb", "\n\nsaid"),)
    assert (request.text, request.seed) == ("now\nhere", 2**64 - 1)
    assert request.stream and request.usage_in_stream


def test_without_a_seed_the_messages_and_the_model_make_one():
    same = [read_request(body(USER, temperature=temperature)).seed for temperature in (0, 1)]
    other = read_request(body({"role": "user", "content": "then"})).seed
    assert same[0] == same[1] != other
    assert read_request(body(USER, seed=7)).seed == 7


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"", "no JSON"),
        (b"\x00\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"model": "m", "seed": ' + b"9" * 10_000 + b"}", "no JSON"),
        (b"[]", "expected a JSON object"),
        (b'{"messages": []}', "model: expected a text, got None"),
        (body(), "messages: expected a list"),
        (body(*[USER] * (MAX_MESSAGES + 1)), "messages: expected a list"),
        (b'{"model": "m", "messages": {"0": 1}}', "messages: expected a list"),
        (body("now"), r"messages\[0\]: expected an object"),
        (body({"role": ["user"], "content": ""}), r"messages\[0\]: expected an object"),
        (body({"role": "user"}), r"messages\[0\]: expected a text"),
        (body(USER, {"role": "user", "content": [{"type": "image_url"}]}), r"messages\[1\]: expected a text"),
        (body(USER, {"role": "user", "content": [7]}), r"messages\[1\]: expected a text"),
        (body({"role": "system", "content": "rules"}), "one of the user at the end"),
        (body(USER, {"role": "assistant", "content": "said"}), "one of the user at the end"),
        (body(USER, n=2), "n: expected 1"),
        (body(USER, n={}), "n: expected 1"),
        (body(USER, seed=2**64), "seed: expected an integer"),
        (body(USER, seed=1.5), "seed: expected an integer"),
        (body(USER, stream="yes"), "stream: expected true or false"),
        (body(USER, stream_options={"include_usage": 1}), "include_usage: expected true or false"),
    ],
)
def test_what_is_no_request_is_refused_in_a_short_message(sent, expected):
    with pytest.raises(RequestError, match=expected) as raised:
        read_request(sent)
    assert raised.value.status == 400
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("text", ["", " two  words\n", "\ud800X: 3", "X:\u00a03\n\nmore "])
def test_a_streamed_reply_is_the_whole_one_in_pieces(text):
    request = read_request(body(USER, stream=True, stream_options={"include_usage": True}))
    whole = completion(request, Reply(text), 1)
    *events, end = completion_stream(request, Reply(text), 1)
    assert end == "data: [DONE]\n\n"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    pieces = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]]
    assert "".join(pieces) == whole["choices"][0]["message"]["content"] == text
    assert chunks[-1]["usage"] == whole["usage"]
    assert whole["usage"]["completion_tokens"] == len(text.split())
