"""One request to an OpenAI-compatible server: what is sent, and what can go wrong with it."""

import itertools
import json
from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING

from agents.errors import ProviderError, TransientError
from agents.models.chat_reply import read_reply
from agents.models.endpoint import Endpoint
from agents.models.retry import read_retry_after
from agents.models.secret import Secret
from agents.policy import Reply
from llmarena_envs.core.failures import Failure

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

CONNECT_TIMEOUT = 60.0
"""Seconds to open a connection."""

MAX_CONNECTIONS = 4096
"""Connections to one endpoint. Without a number the aiohttp transport would silently stop at 100."""

_RETRIED = frozenset({408, 409, 425, 429})
_MAX_QUOTED = 300
_MAX_CAUSES = 10


class Client:
    """A client of the SDK for one endpoint, closed at the latest when asyncio shuts down its event loop.

    Args:
        endpoint: the server.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import openai

        limits_type = type(openai.DEFAULT_CONNECTION_LIMITS)  # of httpx, or of httpx2 since openai 3
        limits = limits_type(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS)
        timeout = openai.Timeout(None, connect=CONNECT_TIMEOUT)  # `retry` bounds the time of an attempt
        # The SDK's aiohttp transport lets some of aiohttp's own errors through.
        self._transport_errors: tuple[type[Exception], ...] = (openai.APIError,)
        try:
            http_client = openai.DefaultAioHttpClient(limits=limits, timeout=timeout)
        except RuntimeError:  # without aiohttp; slow where hundreds of requests wait at once
            http_client = openai.DefaultAsyncHttpxClient(limits=limits, timeout=timeout)
        else:
            from aiohttp import ClientError

            self._transport_errors += (ClientError,)
        self._secret = Secret(endpoint.read_key())
        address, query = endpoint.split()
        self._sdk: AsyncOpenAI = openai.AsyncOpenAI(
            base_url=address,
            default_query=query,
            api_key=endpoint.read_key(),
            max_retries=0,
            timeout=timeout,
            http_client=http_client,
        )
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

    async def complete(self, request: dict[str, object]) -> Reply:
        """Sends one request for a chat completion and returns the reply.

        A prompt that the server's content filter rejects (HTTP 400, code ``content_filter``) is an empty ``REFUSAL``. The
        SDK's ``chat.completions.create`` would walk every message through its types, at 0.15 ms each; this does not.

        Args:
            request: the body.

        Raises:
            TransientError: if another attempt may succeed.
            ProviderError: if another attempt is useless.
        """
        import openai

        try:
            completion = await self._sdk.post("/chat/completions", body=request, cast_to=object)
            return read_reply(json.loads(self._secret.hide(json.dumps(completion))))
        except openai.APIStatusError as error:
            if error.status_code == 400 and "content_filter" in (error.code, error.type):
                return Reply("", Failure.REFUSAL, detail={"finish_reason": "content_filter"})
            raise self._classify(error) from error
        except self._transport_errors as error:
            raise TransientError(self._clean(self._describe(error))) from error
        except (ValueError, RecursionError) as error:  # of `read_reply`, or of the SDK's JSON parser
            raise TransientError(self._clean(f"expected a chat completion: {error}")) from error

    def _classify(self, error: "APIStatusError") -> Exception:
        status = error.status_code
        if status == 401:
            # Servers quote the key in part, so their message is left out.
            return ProviderError(f"HTTP 401: {self._sdk.base_url} refused the key", fatal=True)
        body = error.body
        message = body.get("message") if isinstance(body, dict) else None
        text = self._clean(f"HTTP {status}: {message or error.response.text or error.response.reason_phrase}")
        if (status in _RETRIED or status >= 500) and "insufficient_quota" not in (error.code, error.type):
            return TransientError(text, read_retry_after(error.response.headers))
        if status == 404:
            text += f" ({self._sdk.base_url}; the path of most servers is /v1)"
        return ProviderError(text, fatal=True)

    def _describe(self, error: BaseException) -> str:
        """Returns why there was no response; the SDK calls whatever keeps a connection from being opened a time-out."""
        causes = list(itertools.islice(_causes(error), _MAX_CAUSES))
        if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
            return f"connection refused: no server listens at {self._sdk.base_url}"
        return next((str(cause) for cause in [*causes[1:2], error] if str(cause)), type(error).__name__)

    def _clean(self, message: str) -> str:
        """Returns the beginning of a server's message on one line, without the key."""
        return " ".join(self._secret.hide(message).split())[:_MAX_QUOTED]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error and what it came from, the outermost first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
