"""Client for chat completion requests to an OpenAI-compatible server."""

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from agents.models.server.abilities import Abilities
from agents.models.server.chat_reply import FILTERED, read_reply
from agents.models.server.connection import Connection, Received
from agents.models.server.endpoint import Endpoint
from agents.models.server.server_error import ServerError, failure, read_error
from agents.policy import Reply
from agents.secret import Secret, hide_keys
from llmarena_envs.core.failures import Failure

_QUOTED = 80
"""Bytes of an invalid body quoted in an error."""

_MAX_REQUESTS = 20  # per reply, each after learning about the model
_MAX_QUOTED = 300
_MAX_PAGE = 10_000
_STREAM_FIELDS = {"stream": True, "stream_options": {"include_usage": True}}

_OVERFLOW = Reply("", Failure.TRUNCATED, detail={"finish_reason": "context_length"})
"""The reply if the model's own messages exceed its context length."""


@dataclass(frozen=True)
class Response:
    """A reply with facts of its request.

    Attributes:
        reply: the reply.
        http_status: of the response.
        request_id: the server's id of the request, or an empty string.
        headers: rate-limit headers, names in lower case.
    """

    reply: Reply
    http_status: int
    request_id: str
    headers: Mapping[str, str]


class Client:
    """A client for one endpoint; closed at the latest with its event loop.

    Unsupported parameters are detected once per model, then omitted or replaced.

    Args:
        endpoint: the server.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._connection = Connection(endpoint)
        self._secret = Secret(endpoint.read_key())
        self._abilities: dict[str, Abilities] = {}
        self._lifetime = self._live()

    async def open(self) -> None:
        """Binds the client to the running event loop."""
        await anext(self._lifetime)

    async def close(self) -> None:
        """Closes all connections."""
        await self._lifetime.aclose()

    async def _live(self) -> AsyncGenerator[None, None]:
        # asyncio closes all open asynchronous generators before it closes a loop.
        try:
            yield
        finally:
            await self._connection.close()

    async def complete(self, request: Mapping[str, Any], *, idle: float | None = None) -> Response:
        """Sends a request for a chat completion and returns the reply.

        A prompt rejected by the server's content filter gives an empty ``REFUSAL``. A prompt that is too long gives an empty
        ``TRUNCATED`` if it holds messages of the model. A request with an unsupported parameter is sent again without it; the
        reply's detail then holds the changes as ``adapted`` and, if they differ, the parameters ``sent``.

        Args:
            request: the body.
            idle: seconds without data after which a streamed reply fails; ``None`` for no stream.

        Raises:
            TransientError: if a retry can succeed.
            ProviderError: if a retry cannot succeed.
        """
        try:
            return await self._complete(request, idle)
        except ProviderError as error:
            error.args = (self._clean(str(error)),)
            error.request_id = self._secret.hide_parts(error.request_id)
            raise

    async def _complete(self, request: Mapping[str, Any], idle: float | None) -> Response:
        model = str(request.get("model", ""))
        abilities = self._abilities.setdefault(model, Abilities(model))
        asked = dict(request) if idle is None else {**request, **_STREAM_FIELDS}
        for _ in range(_MAX_REQUESTS):
            sent, adapted = abilities.adapt(asked)
            received = await self._connection.send(sent, idle)
            if received.http_status < 300:
                break
            error = self._read_error(received)
            if not abilities.learn(error, sent) or abilities.adapt(asked)[0] == sent:
                break
        try:
            reply = self._read(received) if received.http_status < 300 else self._reply_to(error, received)
        except ProviderError as raised:
            if raised.status is not CallStatus.CONTEXT_LENGTH or not _holds_own_words(request):
                raise received.mark(raised) from None
            reply = _OVERFLOW
        reply = _record(reply, request, sent, adapted)
        return Response(reply, received.http_status, self._secret.hide_parts(received.request_id), received.limits)

    def _read(self, received: Received) -> Reply:
        """Returns the reply of a successful response."""
        if not isinstance(received.body, bytes):
            return self._without_key(read_reply(received.body))
        body = self._secret.hide(received.body)
        try:
            completion = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise TransientError(
                f"expected a chat completion: {error}: {body[:_QUOTED].decode(errors='replace')!r}",
                status=CallStatus.MALFORMED,
            ) from None
        return self._without_key(read_reply(completion))

    def _without_key(self, reply: Reply) -> Reply:
        """Returns a reply with the key hidden."""
        detail = {name: self._secret.hide_parts(fact) for name, fact in (reply.detail or {}).items()}
        return replace(
            reply, text=self._secret.hide(reply.text), reasoning=self._secret.hide(reply.reasoning), detail=detail
        )

    def _read_error(self, received: Received) -> ServerError:
        body = self._secret.hide(received.body) if isinstance(received.body, bytes) else b""
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        return read_error(value, received.http_status, body[:_MAX_PAGE].decode("utf-8", "replace"))

    def _reply_to(self, error: ServerError, received: Received) -> Reply:
        """Returns the reply that a server error represents.

        Raises:
            ProviderError: if it represents none.
        """
        address, status = self._connection.address, received.http_status
        if status == 400 and error.is_filtered:
            return FILTERED
        if status < 400:
            target = received.headers.get("location", "").partition("?")[0] or "nowhere"
            raise ProviderError(
                f"HTTP {status}: {address} redirects to {target}, expected a chat completion; base_url may be wrong, or a"
                " page wants somebody to log in",
                fatal=True,
                status=CallStatus.REJECTED,
            )
        said = error.message
        if error.status is CallStatus.AUTHENTICATION and status != 403:
            said = f"{address} refused the key"  # servers quote part of the key
        elif status == 404:
            said += f" ({address}; the path of most servers is /v1)"
        raise failure(error, f"HTTP {status}: {said}")

    def _clean(self, message: str) -> str:
        """Returns the beginning of a message on one line, without parts of keys and control characters."""
        line = " ".join(hide_keys(self._secret.hide_parts(message)).split())[:_MAX_QUOTED]
        return "".join(sign if sign.isprintable() else "?" for sign in line)


def _holds_own_words(request: Mapping[str, Any]) -> bool:
    """Returns whether a request repeats messages of the model."""
    messages = request.get("messages")
    return isinstance(messages, list) and any(
        isinstance(message, dict) and message.get("role") == "assistant" and message.get("content")
        for message in messages
    )


def _record(reply: Reply, asked: Mapping[str, Any], sent: Mapping[str, Any], adapted: Mapping[str, str]) -> Reply:
    """Returns a reply with the differences between requested and sent parameters in its detail."""
    facts: dict[str, Any] = {"adapted": dict(adapted)} if adapted else {}
    if _parameters(sent) != _parameters(asked):
        facts["sent"] = _parameters(sent)
    return replace(reply, detail={**(reply.detail or {}), **facts}) if facts else reply


def _parameters(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name != "messages" and name not in _STREAM_FIELDS}
