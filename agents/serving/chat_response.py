"""What a client gets: chat completions, whole or in pieces, and errors, in the form of OpenAI's interface."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from agents.policy import Reply
from agents.serving.chat_request import ChatRequest, RequestError
from llmarena_envs.core.failures import Failure

_FINISH_REASONS = {Failure.TRUNCATED: "length", Failure.REFUSAL: "content_filter"}
_TYPES = {401: "authentication_error", 404: "not_found_error"}


def completion(request: ChatRequest, reply: Reply, number: int) -> dict[str, Any]:
    """Returns a chat completion; ``number`` tells it apart from others of the server."""
    message = {"role": "assistant", "content": reply.text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(reply)}
    return {**_head(request, number, "chat.completion"), "choices": [choice], "usage": _usage(request, reply)}


def completion_stream(request: ChatRequest, reply: Reply, number: int) -> Iterator[str]:
    """Yields a chat completion as server-sent events, a word each."""
    head = _head(request, number, "chat.completion.chunk")

    def event(delta: dict[str, str], finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _event({**head, "choices": [choice]})

    yield event({"role": "assistant", "content": ""})
    for word in _words(reply.text):
        yield event({"content": word})
    yield event({}, _finish_reason(reply))
    if request.usage_in_stream:
        yield _event({**head, "choices": [], "usage": _usage(request, reply)})
    yield "data: [DONE]\n\n"


def error_body(error: RequestError) -> dict[str, Any]:
    """Returns the body of a response that says what went wrong."""
    kind = _TYPES.get(error.status, "server_error" if error.status >= 500 else "invalid_request_error")
    return {"error": {"message": str(error), "type": kind, "param": None, "code": error.code}}


def _head(request: ChatRequest, number: int, kind: str) -> dict[str, Any]:
    # No clock: the same request has the same reply.
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": request.model}


def _finish_reason(reply: Reply) -> str:
    return _FINISH_REASONS.get(reply.kind, "stop")


def _usage(request: ChatRequest, reply: Reply) -> dict[str, int]:
    """Returns the tokens as the policy counts them, or words where it counts none."""
    said = itertools.chain([request.rules, request.text], *request.turns)
    read = reply.prompt_tokens or sum(len(text.split()) for text in said)
    written = reply.completion_tokens or len(reply.text.split())
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _words(text: str) -> Iterator[str]:
    """Yields the words of a text, each with the white space before it; together they are the text."""
    begin = 0
    for here in range(1, len(text)):
        if text[here].isspace() and not text[here - 1].isspace():
            yield text[begin:here]
            begin = here
    if text:
        yield text[begin:]


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"
