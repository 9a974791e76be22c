"""Records of model calls, reported to the owner of a ``ModelService`` for costs and logs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class CallStatus(StrEnum):
    """The status of a call."""

    OK = "ok"
    CACHED = "cached"
    """From the cache: nothing was sent."""
    RATE_LIMITED = "rate_limited"
    """HTTP 429, except for an exhausted quota."""
    UNAVAILABLE = "unavailable"
    """No connection, or HTTP 408, 409, 425, 5xx."""
    TIMEOUT = "timeout"
    """No complete reply within the time of an attempt."""
    MALFORMED = "malformed"
    """HTTP 200 with an invalid chat completion, or one that reports a server failure."""
    AUTHENTICATION = "authentication"
    QUOTA = "quota"
    UNKNOWN_MODEL = "unknown_model"
    CONTEXT_LENGTH = "context_length"
    REJECTED = "rejected"
    """Any other rejected request."""
    CANCELLED = "cancelled"
    """The caller stopped waiting."""
    LOST = "lost"
    """In flight when the calling process died."""


@dataclass(frozen=True)
class Call:
    """One attempt to get a reply from a model, or a cached reply.

    Attributes:
        model: name of the model on the server.
        base_url: address of the server; empty for the default one.
        agent: id of the calling seat.
        attempt: number of the attempt for the reply, from 1.
        status: of the call.
        http_status: of the response, or ``None`` without one.
        request_id: the server's id of the request, or an empty string.
        waited: seconds before it was sent: in the queue, in pauses, between attempts.
        latency: seconds from the first byte sent to the end.
        prompt_tokens: prompt tokens; ``None`` if unknown.
        completion_tokens: completion tokens, including reasoning; ``None`` if unknown.
        cached_tokens: cached prompt tokens; ``None`` if unknown.
        reasoning_tokens: reasoning tokens among the completion tokens; ``None`` if unknown.
        error: error message without the key, or an empty string.
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
"""Fields of a call with unknown usage."""
