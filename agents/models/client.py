"""One request to an OpenAI-compatible server: what is sent, and what can go wrong with it."""

import asyncio
import importlib
import itertools
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, AnyStr

from agents.errors import ProviderError, TransientError
from agents.models.abilities import Abilities
from agents.models.calls import CallStatus
from agents.models.chat_reply import FILTERED, read_reply
from agents.models.endpoint import Endpoint
from agents.models.retry import read_retry_after
from agents.models.server_error import ServerError, failure, read_error
from agents.models.stream import read_stream
from agents.models.unreachable import unreachable
from agents.policy import Reply
from llmarena_envs.core.failures import Failure

CONNECT_TIMEOUT = 60.0
"""Seconds to open a connection."""

MAX_CONNECTIONS = 4096
"""Connections to one endpoint. Without a number the aiohttp transport would silently stop at 100."""

MAX_BODY = 16_000_000
"""Bytes of a response that are read; a longer one is none."""

MAX_STREAM = 256_000_000
"""Bytes of a streamed response that are read: some 300 for each token."""

_MAX_REDIRECTS = 3
_MAX_REQUESTS = 20  # for one reply, each after something new was found out about the model
_MAX_QUOTED = 300
_MAX_PAGE = 10_000
_MAX_HEADERS = 40
_SHORTEST_SECRET = 8  # keys such as "x" for servers that need none would be found in any message
_LIMIT_HEADERS = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after")
_STREAM_FIELDS = {"stream": True, "stream_options": {"include_usage": True}}


@dataclass(frozen=True)
class Response:
    """A reply and what is known of the request that brought it.

    Attributes:
        reply: the reply.
        http_status: of the response.
        request_id: by which the server knows the request, or an empty string.
        headers: those that speak of limits, with names in lower case.
    """

    reply: Reply
    http_status: int
    request_id: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class _Received:
    """A response whose body has been read.

    Attributes:
        http_status: its status.
        headers: its headers.
        body: its bytes, or the completion that a stream added up to.
    """

    http_status: int
    headers: Mapping[str, str]
    body: bytes | dict[str, Any]

    @property
    def request_id(self) -> str:
        """By which the server knows the request, or an empty string."""
        return _printable((self.headers.get("x-request-id") or self.headers.get("request-id") or "")[:200])

    @property
    def limits(self) -> dict[str, str]:
        """The headers that speak of limits."""
        named = ((name.lower(), value) for name, value in self.headers.items())
        limits = ((name, value[:200]) for name, value in named if name.startswith(_LIMIT_HEADERS))
        return dict(itertools.islice(limits, _MAX_HEADERS))


class Client:
    """The connections to one endpoint, closed at the latest when asyncio shuts down its event loop.

    What its models do not take is found out once and left out or replaced from then on.

    Args:
        endpoint: the server.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import openai

        limits_type = type(openai.DEFAULT_CONNECTION_LIMITS)  # of httpx, or of httpx2 since openai 3
        limits = limits_type(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS)
        timeout = openai.Timeout(None, connect=CONNECT_TIMEOUT)  # whoever asks bounds the time of an attempt
        httpx = importlib.import_module(limits_type.__module__.partition(".")[0])
        # The SDK's aiohttp transport lets some of aiohttp's own errors through.
        self._transport_errors: tuple[type[Exception], ...] = (httpx.HTTPError, httpx.InvalidURL, OSError)
        try:
            self._http = openai.DefaultAioHttpClient(limits=limits, timeout=timeout)
        except RuntimeError:  # without aiohttp; slow where hundreds of requests wait at once
            self._http = openai.DefaultAsyncHttpxClient(limits=limits, timeout=timeout)
        else:
            from aiohttp import ClientError

            self._transport_errors += (ClientError,)
        address, self._query = endpoint.split()
        self._key = endpoint.read_key()
        self._sdk = openai.AsyncOpenAI(base_url=address, api_key=self._key, max_retries=0, http_client=self._http)
        self._url = f"{str(self._sdk.base_url).rstrip('/')}/chat/completions"
        fields = {name: value for name, value in self._sdk.default_headers.items() if isinstance(value, str)}
        self._headers = {**fields, "Authorization": f"Bearer {self._key}"}
        self._abilities: dict[str, Abilities] = {}
        self._lifetime = self._live()

    async def open(self) -> None:
        """Ties the client to the running event loop."""
        await anext(self._lifetime)

    async def close(self) -> None:
        """Closes all connections."""
        await self._lifetime.aclose()

    async def _live(self) -> AsyncGenerator[None, None]:
        # asyncio closes every open asynchronous generator before it closes a loop.
        try:
            yield
        finally:
            await self._sdk.close()

    async def complete(self, request: Mapping[str, Any], *, idle: float | None = None) -> Response:
        """Sends a request for a chat completion and returns the reply.

        A prompt that the server's content filter rejects is an empty ``REFUSAL``. One that is too long for the model is an empty
        ``TRUNCATED`` if the model's own words are part of it. A request that the server does not take because of one of its
        parameters is sent again without it; then the reply's detail holds what was changed as ``adapted`` and, if they
        differ, the parameters that were ``sent``.

        Args:
            request: the body.
            idle: seconds without a sign of life after which a streamed reply is given up; ``None`` for no stream.

        Raises:
            TransientError: if another attempt may succeed.
            ProviderError: if another attempt is useless.
        """
        model = str(request.get("model", ""))
        abilities = self._abilities.setdefault(model, Abilities(model))
        asked = dict(request) if idle is None else {**request, **_STREAM_FIELDS}
        for _ in range(_MAX_REQUESTS):
            sent, adapted = abilities.adapt(asked)
            received = await self._send(sent, idle)
            if received.http_status < 300:
                break
            error = self._read_error(received)
            abilities.learn(error, sent)
            if abilities.adapt(asked)[0] == sent:  # nothing was found out
                break
        try:
            reply = self._read(received) if received.http_status < 300 else self._read_refusal(error, received)
        except ProviderError as raised:
            if raised.status is not CallStatus.CONTEXT_LENGTH or not _holds_own_words(request):
                raise
            reply = _OVERFLOW
        return Response(
            _record(reply, request, sent, adapted), received.http_status, received.request_id, received.limits
        )

    async def _send(self, body: Mapping[str, Any], idle: float | None) -> _Received:
        """Sends a request and returns the response.

        The SDK's own ``post`` reads bodies of any length, and costs more time than the rest of a call.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        request = self._http.build_request(
            "POST", self._url, content=content, headers=self._headers, params=self._query or None
        )
        try:
            for _ in range(_MAX_REDIRECTS):
                response = await self._http.send(request, stream=True, follow_redirects=False)
                try:
                    if response.status_code not in (307, 308) or response.next_request is None:
                        return await self._receive(response, idle)
                    request = response.next_request
                finally:
                    await response.aclose()
        except self._transport_errors as error:
            described = unreachable(error, str(self._sdk.base_url))
            described.args = (self._clean(str(described)),)
            raise described from error
        raise ProviderError(f"{self._sdk.base_url} redirects again and again", fatal=True, status=CallStatus.REJECTED)

    async def _receive(self, response: Any, idle: float | None) -> _Received:
        """Reads the body of a response."""
        is_stream = response.status_code < 300 and "text/event-stream" in response.headers.get("content-type", "")
        body: bytes | dict[str, Any]
        received = _Received(response.status_code, response.headers, b"")
        async with aclosing(_bounded(response.aiter_bytes(), MAX_STREAM if is_stream else MAX_BODY, idle)) as chunks:
            try:
                body = (
                    await read_stream(chunks) if is_stream else self._hide(b"".join([piece async for piece in chunks]))
                )
            except (ValueError, RecursionError) as error:  # an event that is no JSON
                raise self._name(_no_completion(error), received) from None
            except TransientError as error:
                raise self._name(error, received) from None
        return replace(received, body=body)

    def _read(self, received: _Received) -> Reply:
        """Returns the reply of a response that promises one."""
        body = received.body
        try:
            reply = read_reply(json.loads(body) if isinstance(body, bytes) else body)
        except (ValueError, RecursionError) as error:  # of the JSON parser
            raise self._name(_no_completion(error), received) from None
        except ProviderError as error:
            raise self._name(error, received) from None
        detail = {name: self._hide(fact) for name, fact in (reply.detail or {}).items()}
        return replace(reply, text=self._hide(reply.text), reasoning=self._hide(reply.reasoning), detail=detail)

    def _read_refusal(self, error: ServerError, received: _Received) -> Reply:
        """Returns the reply that stands for an error of the server.

        Raises:
            ProviderError: if none does.
        """
        address = self._sdk.base_url
        if received.http_status == 400 and error.is_filtered:
            return FILTERED
        if received.http_status < 400:
            target = received.headers.get("location", "").partition("?")[0]
            moved = ProviderError(
                f"HTTP {received.http_status}: {address} redirects to {target or 'nowhere'}, expected a chat completion;"
                " base_url may be wrong, or a page wants somebody to log in",
                fatal=True,
                status=CallStatus.REJECTED,
            )
            raise self._name(moved, received)
        said = error.message
        if error.status is CallStatus.AUTHENTICATION and received.http_status != 403:
            said = f"{address} refused the key"  # servers quote the key in part
        elif received.http_status == 404:
            said += f" ({address}; the path of most servers is /v1)"
        raise self._name(failure(error, f"HTTP {received.http_status}: {said}"), received)

    def _read_error(self, received: _Received) -> ServerError:
        body = received.body if isinstance(received.body, bytes) else b""
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        return read_error(value, received.http_status, body[:_MAX_PAGE].decode("utf-8", "replace"))

    def _name(self, error: ProviderError, received: _Received) -> ProviderError:
        """Returns an error with what is known of the response, its message cleaned."""
        error.args = (self._clean(str(error)),)
        error.http_status = received.http_status
        error.request_id = received.request_id
        if isinstance(error, TransientError):
            error.retry_after = read_retry_after(received.headers)
            error.headers = received.limits
        return error

    def _clean(self, message: str) -> str:
        """Returns the beginning of a server's message on one line, without the key and without what terminals obey."""
        line = " ".join(self._hide(message).split())[:_MAX_QUOTED]
        return _printable(line)

    def _hide(self, text: AnyStr) -> AnyStr:
        """Returns a text without the key."""
        if len(self._key) < _SHORTEST_SECRET:
            return text
        if isinstance(text, bytes):
            return text.replace(self._key.encode(), b"***")
        return text.replace(self._key, "***")


_OVERFLOW = Reply("", Failure.TRUNCATED, detail={"finish_reason": "context_length"})
"""What stands for a reply where the model's own words have grown too long for it."""


def _holds_own_words(request: Mapping[str, Any]) -> bool:
    """Says whether a request repeats what the model said before."""
    messages = request.get("messages")
    return isinstance(messages, list) and any(
        isinstance(message, dict) and message.get("role") == "assistant" and message.get("content")
        for message in messages
    )


def _record(reply: Reply, asked: Mapping[str, Any], sent: Mapping[str, Any], adapted: Mapping[str, str]) -> Reply:
    """Returns a reply with what was sent otherwise than asked."""
    facts: dict[str, Any] = {"adapted": dict(adapted)} if adapted else {}
    if _parameters(sent) != _parameters(asked):
        facts["sent"] = _parameters(sent)
    return replace(reply, detail={**(reply.detail or {}), **facts}) if facts else reply


def _parameters(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name != "messages" and name not in _STREAM_FIELDS}


async def _bounded(chunks: AsyncIterator[bytes], limit: int, idle: float | None) -> AsyncGenerator[bytes, None]:
    """Yields the chunks of a body.

    Raises:
        TransientError: if there are more than ``limit`` bytes, or none for ``idle`` seconds.
    """
    count = 0
    while True:
        try:
            async with asyncio.timeout(idle):
                chunk = await anext(chunks, None)
        except TimeoutError:
            raise TransientError(f"nothing came for {idle:.3g} s", status=CallStatus.TIMEOUT) from None
        if chunk is None:
            return
        count += len(chunk)
        if count > limit:
            raise TransientError(f"a response of more than {limit} bytes", status=CallStatus.MALFORMED)
        yield chunk


def _no_completion(error: Exception) -> TransientError:
    return TransientError(f"expected a chat completion: {error}", status=CallStatus.MALFORMED)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)
