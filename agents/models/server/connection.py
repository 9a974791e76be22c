"""HTTP connections to one endpoint, with bounded responses."""

import asyncio
import importlib
import itertools
import json
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from agents.models.server.endpoint import Endpoint
from agents.models.server.rate_headers import read_retry_after
from agents.models.server.stream import read_stream

CONNECT_TIMEOUT = 60.0
"""Seconds to open a connection."""

MAX_CONNECTIONS = 4096
"""Connections to one endpoint. By default the aiohttp transport silently stops at 100."""

MAX_BODY = 16_000_000
"""Most bytes of a response; a longer one is an error."""

MAX_STREAM = 256_000_000
"""Most bytes of a streamed response; a token takes about 300."""

_MAX_REDIRECTS = 3
_MAX_CAUSES = 10
_MAX_HEADERS = 40
_LIMIT_HEADERS = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after")


@dataclass(frozen=True)
class Received:
    """A response.

    Attributes:
        http_status: its status.
        headers: its headers.
        body: its bytes, or the completion joined from a stream.
    """

    http_status: int
    headers: Mapping[str, str]
    body: bytes | dict[str, Any] = b""

    @property
    def request_id(self) -> str:
        """The server's id of the request, or an empty string."""
        name = self.headers.get("x-request-id") or self.headers.get("request-id") or ""
        return "".join(sign for sign in name[:200] if sign.isprintable())

    @property
    def limits(self) -> dict[str, str]:
        """The rate-limit headers, names in lower case."""
        named = ((name.lower(), value) for name, value in self.headers.items())
        limits = ((name, value[:200]) for name, value in named if name.startswith(_LIMIT_HEADERS))
        return dict(itertools.islice(limits, _MAX_HEADERS))

    def mark(self, error: ProviderError) -> ProviderError:
        """Adds the facts of the response to an error."""
        error.http_status = self.http_status
        error.request_id = self.request_id
        if isinstance(error, TransientError):
            error.retry_after = read_retry_after(self.headers)
            error.headers = self.limits
        return error


@cache
def _tls(httpx: ModuleType) -> ssl.SSLContext:
    """Returns the TLS context that all connections share: to read the certificates takes longer than a call."""
    context: ssl.SSLContext = httpx.create_ssl_context()
    return context


class Connection:
    """The connections to an endpoint, using the transport of OpenAI's SDK.

    The SDK's own ``post`` is not used: it reads bodies of any length and takes 50 % more time.

    Args:
        endpoint: the server.

    Attributes:
        address: of the server, as the SDK normalises it.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import openai

        limits_type = type(openai.DEFAULT_CONNECTION_LIMITS)  # httpx, or httpx2 since openai 3
        limits = limits_type(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS)
        timeout = openai.Timeout(None, connect=CONNECT_TIMEOUT)  # callers limit the time of an attempt
        httpx = importlib.import_module(limits_type.__module__.partition(".")[0])
        # The SDK's aiohttp transport leaks some of aiohttp's own errors.
        self._errors: tuple[type[Exception], ...] = (httpx.HTTPError, httpx.InvalidURL, OSError)
        try:
            self._http = openai.DefaultAioHttpClient(limits=limits, timeout=timeout, verify=_tls(httpx))
        except RuntimeError:  # without aiohttp; slow with hundreds of waiting requests
            self._http = openai.DefaultAsyncHttpxClient(limits=limits, timeout=timeout, verify=_tls(httpx))
        else:
            from aiohttp import ClientError

            self._errors += (ClientError,)
        address, query = endpoint.split()
        key = endpoint.read_key()
        self._sdk = openai.AsyncOpenAI(base_url=address, api_key=key, max_retries=0, http_client=self._http)
        self.address = str(self._sdk.base_url)
        fields = {name: value for name, value in self._sdk.default_headers.items() if isinstance(value, str)}
        # Building the common parts once saves a tenth of the time of a call.
        self._template = self._http.build_request(
            "POST",
            f"{self.address.rstrip('/')}/chat/completions",
            headers={**fields, "Authorization": f"Bearer {key}"},
            params=query or None,
        )
        del self._template.headers["Content-Length"]

    async def close(self) -> None:
        """Closes all connections."""
        await self._sdk.close()

    async def send(self, body: Mapping[str, Any], idle: float | None) -> Received:
        """Sends a request for a chat completion and returns the response, with any status.

        Follows redirects that keep the request (HTTP 307 and 308).

        Args:
            body: of the request.
            idle: seconds without data after which the response fails, or ``None``.

        Raises:
            TransientError: if no complete response came.
            ProviderError: if none can come.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        template = self._template
        request = type(template)(
            template.method,
            template.url,
            headers=template.headers,
            content=content,
            extensions=template.extensions,
        )
        try:
            for _ in range(_MAX_REDIRECTS):
                async with asyncio.timeout(idle):
                    response = await self._http.send(request, stream=True, follow_redirects=False)
                try:
                    if response.status_code not in (307, 308) or response.next_request is None:
                        return await _receive(response, idle)
                    request = response.next_request
                finally:
                    await response.aclose()
        except TimeoutError:
            raise _silence(idle) from None
        except self._errors as error:
            raise _unreachable(error, self.address) from error
        raise ProviderError(f"{self.address} redirects again and again", fatal=True, status=CallStatus.REJECTED)


async def _receive(response: Any, idle: float | None) -> Received:
    """Reads the body of a response."""
    received = Received(response.status_code, response.headers)
    is_stream = response.status_code < 300 and "text/event-stream" in response.headers.get("content-type", "")
    chunks = _bounded(response.aiter_bytes(), MAX_STREAM if is_stream else MAX_BODY, idle)
    async with aclosing(chunks):
        try:
            body = await read_stream(chunks) if is_stream else b"".join([chunk async for chunk in chunks])
        except (ValueError, RecursionError) as error:  # an event is not JSON
            failed = TransientError(f"expected a chat completion: {error}", status=CallStatus.MALFORMED)
            raise received.mark(failed) from None
        except TransientError as error:
            raise received.mark(error) from None
    return Received(response.status_code, response.headers, body)


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
            raise _silence(idle) from None
        if chunk is None:
            return
        count += len(chunk)
        if count > limit:
            raise TransientError(f"a response of more than {limit} bytes", status=CallStatus.MALFORMED)
        yield chunk


def _silence(idle: float | None) -> TransientError:
    return TransientError(f"nothing came for {idle or 0:.3g} s", status=CallStatus.TIMEOUT)


def _unreachable(error: BaseException, address: str) -> ProviderError:
    """Returns the exception for a request without a response. The SDK's transport reports many causes as time-outs.

    Args:
        error: raised by the transport.
        address: of the server.
    """
    causes = list(itertools.islice(_causes(error), _MAX_CAUSES))
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return _passing(f"connection refused: no server listens at {address}")
        if isinstance(cause, socket.gaierror):
            return _passing(f"the host of {address} is not known: {cause.strerror or cause}")
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = getattr(cause, "verify_message", "") or str(cause)
            message = f"the certificate of {address} is not valid: {why}"
            return ProviderError(message, fatal=True, status=CallStatus.UNAVAILABLE)
        if isinstance(cause, ssl.SSLError):
            return _passing(f"no TLS connection to {address}: {getattr(cause, 'reason', '') or cause}")
    return _passing(next((str(cause) for cause in [*causes[1:2], error] if str(cause)), type(error).__name__))


def _passing(why: str) -> TransientError:
    return TransientError(why, status=CallStatus.UNAVAILABLE)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error and its causes, the outermost first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
