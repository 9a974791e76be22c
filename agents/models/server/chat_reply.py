"""Validation and conversion of chat completions from OpenAI-compatible servers."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agents.errors import TransientError
from agents.models.calls import CallStatus
from agents.models.server.server_error import ServerError, failure, read_error
from agents.policy import Reply
from agents.records import encodable
from llmarena_envs.core.failures import Failure

# Finish reasons caused by the model. With any other reason the server has failed, even if there is text.
_ENDED = frozenset(
    {"stop", "end_turn", "stop_sequence", "eos", "eos_token", "tool_calls", "tool_use", "function_call", "complete"}
)
_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "max_length", "model_length"})
_FILTERED = frozenset({"content_filter", "refusal", "safety", "recitation", "prohibited_content", "sensitive"})

_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
_MOST_TOKENS = 10**12
_QUOTED = 2000

FILTERED = Reply("", Failure.REFUSAL, detail={"finish_reason": "content_filter"})
"""The reply for a prompt rejected by a content filter."""


def read_reply(completion: object) -> Reply:
    """Returns the reply of a chat completion.

    Its kind is ``REFUSAL`` if the model refused or a content filter cut in, ``TRUNCATED`` if the token limit was reached,
    ``EMPTY`` if there is no text although the model ended by itself, else ``OK``. The arguments of a tool call are text, since
    games have no tools. ``reasoning`` holds reasoning in a separate field or part. Missing or invalid token counts are ``None``.
    The detail holds ``finish_reason``, ``model`` and ``system_fingerprint`` if given, and ``cut_in: reasoning`` if the limit was
    reached before the reply began.

    Args:
        completion: the decoded JSON, of any shape, because servers and proxies vary.

    Raises:
        TransientError: if it is not a chat completion, reports a server failure, or has an unknown finish reason.
        ProviderError: if it holds an error that a retry cannot fix.
    """
    if not isinstance(completion, dict):
        raise _unexpected(completion, "not a JSON object; base_url may be wrong, the path of most servers is /v1")
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    error = _find_error(completion, choice, message)
    if error is not None:
        if error.is_filtered:
            return FILTERED
        raise failure(error, encodable(f"the server failed: {error.message[:_QUOTED]}"))
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise _unexpected(completion, "no message in it")
    said = _read_message(message)
    reason = choice.get("finish_reason")
    kind = _kind(reason, said)
    if kind is None:
        raise _unexpected(message, f"the server failed in the middle of the reply, finish_reason {reason!r:.40}")
    facts = {
        "finish_reason": reason,
        "model": completion.get("model"),
        "system_fingerprint": completion.get("system_fingerprint"),
        "cut_in": "reasoning" if kind is Failure.TRUNCATED and said.reasoning and not said.text.strip() else None,
    }
    usage = _read_usage(completion.get("usage"), bool(said.reasoning) or "<think" in said.text[:200])
    return Reply(
        encodable(said.text or (said.refusal if kind is Failure.REFUSAL else "")),
        kind,
        usage.prompt,
        usage.completion,
        {name: encodable(value) for name, value in facts.items() if isinstance(value, str)},
        usage.cached,
        usage.reasoning,
        encodable(said.reasoning),
    )


class _Said(NamedTuple):
    """The content of a message."""

    text: str
    refusal: str
    reasoning: str


class _Usage(NamedTuple):
    """Token counts; ``None`` if unknown."""

    prompt: int | None
    completion: int | None
    cached: int | None
    reasoning: int | None


def _find_error(completion: Mapping[str, Any], choice: object, message: object) -> ServerError | None:
    """Returns the error in a completion, its choice or its message, or in place of a completion."""
    for holder in (completion, choice, message):
        if isinstance(holder, dict) and holder.get("error"):
            return read_error({"error": holder["error"]}, None)
    if not isinstance(message, dict) and {"message", "code"} <= completion.keys():
        return read_error(completion, None)
    return None


def _kind(reason: object, said: _Said) -> Failure | None:
    """Returns the kind of a reply, or ``None`` if the server failed."""
    name = reason.lower() if isinstance(reason, str) else reason
    is_known = isinstance(name, str) and name in _ENDED | _CUT | _FILTERED
    if name in (None, "") and (said.text.strip() or said.refusal):  # many small servers give no reason
        is_known = True
    if not is_known:
        return None
    if said.refusal or name in _FILTERED:
        return Failure.REFUSAL
    if name in _CUT:
        return Failure.TRUNCATED
    return Failure.OK if said.text.strip() else Failure.EMPTY


def _read_message(message: Mapping[str, Any]) -> _Said:
    content, refusal = message.get("content"), message.get("refusal")
    if not isinstance(content, str | list | None) or not isinstance(refusal, str | None):
        raise _unexpected(message, "the content is no text")
    texts: list[str] = [content] if isinstance(content, str) else []
    refusals = [refusal or ""]
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else ():
        kind = part.get("type", "text") if isinstance(part, dict) else "text"
        if not isinstance(part, dict | str) or not isinstance(kind, str):
            raise _unexpected(message, "a part of the content is none")
        if kind in ("thinking", "reasoning"):
            thoughts += _texts(part)
        elif kind == "refusal":
            refusals += _texts(part)
        elif kind in ("text", "output_text"):
            texts += _texts(part)
    text = "".join(texts)
    calls = "\n".join(_calls(message))
    if calls:
        text = f"{text}\n{calls}" if text.strip() else calls
    fields = ("".join(_texts(message.get(name))) for name in _REASONING)
    reasoning = next((field for field in fields if field), "") or "".join(thoughts)
    return _Said(text, "".join(refusals), reasoning)


def _texts(value: object, depth: int = 3) -> Iterator[str]:
    """Yields the texts of a part, of its text fields, or of nested parts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value:
            yield from _texts(item, depth - 1)
    elif isinstance(value, dict) and depth:
        for name in ("text", "thinking", "reasoning", "summary", "refusal", "content"):
            if isinstance(value.get(name), str | list):
                yield from _texts(value[name], depth - 1)
                return


def _calls(message: Mapping[str, Any]) -> Iterator[str]:
    """Yields the tool calls as the JSON objects that games read: ``{"name": "move", "arguments": {"column": 4}}``."""
    listed = message.get("tool_calls")
    calls = [call.get("function") for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    for call in calls or [message.get("function_call")]:
        if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not call.get("arguments"):
            continue
        arguments = call["arguments"]
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                arguments = call["arguments"]
        try:
            yield json.dumps({"name": call["name"], "arguments": arguments}, ensure_ascii=False)
        except (ValueError, RecursionError):
            continue


def _read_usage(usage: object, has_reasoning: bool) -> _Usage:
    fields = usage if isinstance(usage, dict) else {}
    prompt, completion = _count(fields, "prompt_tokens"), _count(fields, "completion_tokens")
    cached = _count(fields.get("prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _count(fields, "prompt_cache_hit_tokens")  # DeepSeek
    reasoning = _count(fields.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning is None and not has_reasoning:
        reasoning = 0
    total = _count(fields, "total_tokens")
    if reasoning and prompt is not None and completion is not None and total == prompt + completion + reasoning:
        completion += reasoning  # xAI counts it separately
    return _Usage(prompt, completion, cached, reasoning)


def _count(fields: object, name: str) -> int | None:
    count = fields.get(name) if isinstance(fields, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def _unexpected(value: object, why: str) -> TransientError:
    return TransientError(
        encodable(f"expected a chat completion: {why}: {_shown(value)}"), status=CallStatus.MALFORMED, http_status=200
    )


def _shown(value: object) -> str:
    """Returns the beginning of any value, for messages."""
    try:
        return json.dumps(value, ensure_ascii=False)[:_QUOTED]
    except (ValueError, RecursionError):
        return "too deep"
