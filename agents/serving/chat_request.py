"""What a client asks for: the body of a request for a chat completion, of which nothing is taken for granted."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from llmarena_envs.core.errors import ArenaError

MAX_BODY = 1_000_000
"""Bytes of a request."""

MAX_MESSAGES = 10_000

_ROLES = ("system", "developer", "user", "assistant")
_QUOTED = 80


class RequestError(ArenaError):
    """A request that cannot be answered.

    Args:
        message: what was expected and what came.
        status: HTTP status.
        code: what kind of error it is, for programs.
    """

    def __init__(self, message: str, status: int = 400, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class ChatRequest:
    """A request for a chat completion.

    Attributes:
        model: who is asked.
        rules: the messages of the system, one below the other.
        turns: what the user said and was answered before, in order.
        text: what the user says now.
        seed: for the random numbers of the reply: the client's, else one made from model and messages, so that the same
            request has the same reply.
        stream: whether the reply is wanted in pieces.
        usage_in_stream: whether the pieces end with the token counts.
    """

    model: str
    rules: str
    turns: tuple[tuple[str, str], ...]
    text: str
    seed: int
    stream: bool
    usage_in_stream: bool


def read_request(body: bytes) -> ChatRequest:
    """Reads the body of a request; fields that are not named in ``ChatRequest`` are ignored.

    Raises:
        RequestError: if it is none.
    """
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"expected a JSON object, got a body that is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise RequestError(f"expected a JSON object, got {_shown(fields)}")
    model = fields.get("model")
    if not isinstance(model, str):
        raise RequestError(f"model: expected a text, got {_shown(model)}")
    if fields.get("n") not in (None, 1):
        raise RequestError(f"n: expected 1, got {_shown(fields['n'])}; send the request several times, with seeds")
    messages = _read_messages(fields.get("messages"))
    options = fields.get("stream_options")
    rules, turns, text = _arrange(messages)
    return ChatRequest(
        model,
        rules,
        turns,
        text,
        _read_seed(fields.get("seed"), model, messages),
        _read_flag("stream", fields.get("stream")),
        isinstance(options, dict) and _read_flag("include_usage", options.get("include_usage")),
    )


def _read_messages(messages: object) -> list[tuple[str, str]]:
    """Returns role and text of each message."""
    if not isinstance(messages, list) or not 0 < len(messages) <= MAX_MESSAGES:
        raise RequestError(f"messages: expected a list of 1 to {MAX_MESSAGES} messages, got {_shown(messages)}")
    return [_read_message(number, message) for number, message in enumerate(messages)]


def _read_message(number: int, message: object) -> tuple[str, str]:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise RequestError(
            f"messages[{number}]: expected an object whose role is one of {', '.join(_ROLES)}, got {_shown(message)}"
        )
    content = message.get("content")
    if content is None and message["role"] == "assistant":
        content = ""
    texts = [_read_part(part) for part in content] if isinstance(content, list) else [content]
    known = [text for text in texts if isinstance(text, str)]
    if len(known) < len(texts):
        raise RequestError(
            f"messages[{number}]: expected a text, or a list of parts of type text, got {_shown(message.get('content'))}"
        )
    return message["role"], "\n".join(known).replace("\r\n", "\n")


def _read_part(part: object) -> object:
    return part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None


def _arrange(messages: list[tuple[str, str]]) -> tuple[str, tuple[tuple[str, str], ...], str]:
    """Returns the rules, the turns that are over, and what the user says now.

    Messages of the user that follow each other belong together, and so do those of the assistant.
    """
    rules = "\n\n".join(text for role, text in messages if role in ("system", "developer"))
    said: list[list[str]] = []
    for role, text in messages:
        if role == "user":
            if not said or len(said[-1]) == 2:
                said.append([text])
            else:
                said[-1][0] += f"\n\n{text}"
        elif role == "assistant" and said:
            if len(said[-1]) == 1:
                said[-1].append(text)
            else:
                said[-1][1] += f"\n\n{text}"
    if not said or len(said[-1]) == 2:
        raise RequestError("messages: expected one of the user at the end")
    *turns, (now,) = said
    return rules, tuple((user, answer) for user, answer in turns), now


def _read_flag(name: str, value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise RequestError(f"{name}: expected true or false, got {_shown(value)}")
    return bool(value)


def _read_seed(seed: object, model: str, messages: list[tuple[str, str]]) -> int:
    """Returns a seed of at most 64 bits."""
    if seed is None:
        written = json.dumps([model, messages])
        return int.from_bytes(hashlib.sha256(written.encode()).digest()[:8], "big")
    if type(seed) is not int or not -(2**63) <= seed < 2**64:
        raise RequestError(f"seed: expected an integer of 64 bits, got {_shown(seed)}")
    return seed % 2**64  # generators take no negative ones


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."
