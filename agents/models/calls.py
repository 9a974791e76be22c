"""What is known of one call of a model: whoever owns a ``ModelService`` is told of each, for the bill and the log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class CallStatus(StrEnum):
    """What became of a call."""

    OK = "ok"
    CACHED = "cached"
    """It came out of the cache: nothing was sent."""
    RATE_LIMITED = "rate_limited"
    """HTTP 429, but for a used-up quota."""
    UNAVAILABLE = "unavailable"
    """No connection, or HTTP 408, 409, 425, 5xx."""
    TIMEOUT = "timeout"
    """No complete reply in the time of an attempt."""
    MALFORMED = "malformed"
    """HTTP 200 with something that is no chat completion, or with one that says that the server failed."""
    AUTHENTICATION = "authentication"
    QUOTA = "quota"
    UNKNOWN_MODEL = "unknown_model"
    CONTEXT_LENGTH = "context_length"
    REJECTED = "rejected"
    """Any other request that the server does not take."""
    CANCELLED = "cancelled"
    """Nobody waited for the reply any more."""
    LOST = "lost"
    """It was under way when the process that waited for the reply died."""


@dataclass(frozen=True)
class Call:
    """One attempt at a reply of a model, or a reply out of the cache.

    Attributes:
        model: name of the model as the server knows it.
        base_url: address of the server; empty for the default one.
        agent: id of the seat that the reply is for.
        attempt: number of the attempt among those for the reply, from 1.
        status: what became of it.
        http_status: of the response, or ``None`` if there was none.
        request_id: by which the server knows it, or an empty string.
        waited: seconds before it was sent: at the gate, in pauses, between attempts.
        latency: seconds from the first byte sent to the end.
        prompt_tokens: tokens read; ``None`` if unknown.
        completion_tokens: tokens written, those of reasoning included; ``None`` if unknown.
        cached_tokens: those of the tokens read that the server had cached; ``None`` if unknown.
        reasoning_tokens: those of the tokens written that are reasoning; ``None`` if unknown.
        error: what went wrong, without the key, or an empty string.
    """

    model: str
    base_url: str
    agent: str
    attempt: int
    status: CallStatus
    http_status: int | None = None
    request_id: str = ""
    waited: float = 0.0
    latency: float = 0.0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cached_tokens: int | None = 0
    reasoning_tokens: int | None = 0
    error: str = ""


UNKNOWN_TOKENS: dict[str, Any] = {
    "prompt_tokens": None,
    "completion_tokens": None,
    "cached_tokens": None,
    "reasoning_tokens": None,
}
"""Fields of a call of which nobody knows what it used."""
