"""Connections to OpenAI-compatible servers: a pool holds one client of the openai SDK for each endpoint."""

import asyncio
import itertools
import os
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from agents.errors import ProviderError, TransientError
from agents.models.chat_reply import read_reply
from agents.models.retry import read_retry_after
from agents.policy import Reply
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

CONNECT_TIMEOUT = 60.0
"""Seconds to open a connection."""

MAX_CONNECTIONS = 4096
"""Connections to one endpoint. Without a number the aiohttp transport would silently stop at 100."""

NO_KEY = "no-key"
"""What is sent as a key to a server that needs none: the SDK does not do without."""

_RETRIED = frozenset({408, 409, 425, 429})
_MAX_QUOTED = 300
_MAX_CAUSES = 10
_SECRET_NAMES = ("key", "token", "secret", "sig", "signature", "password", "passwd", "pwd", "code", "auth")
_SHORTEST_SECRET = 8  # keys such as "x" for servers that need none would be found in any message


@dataclass(frozen=True)
class Endpoint:
    """A server and the name of the environment variable that holds its key.

    Attributes:
        base_url: address, mostly ending in ``/v1``; ``None`` for what ``OPENAI_BASE_URL`` says, or OpenAI's own. A query such as
            ``?api-version=2024-10-21`` is sent with every request.
        api_key_env: name of the variable.
    """

    base_url: str | None
    api_key_env: str

    def check(self) -> None:
        """Raises an ``OptionError`` if the address is not usable or there is no key."""
        if self.base_url is not None:
            try:
                parts = urlsplit(self.base_url)
                usable = parts.scheme in ("http", "https") and bool(parts.hostname)
                is_secret = bool(parts.username or parts.password) or any(
                    _names_secret(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)
                )
            except (ValueError, AttributeError, TypeError):
                usable, is_secret = False, False
            if is_secret:
                raise OptionError(
                    "base_url: expected an address without user, password and keys in its query, since it is written into"
                    " records; put the key into the environment variable that api_key_env names"
                )
            if not usable:
                raise OptionError(
                    f"base_url: expected an address such as http://localhost:8000/v1, got {self.base_url!r}"
                )
        if not self.api_key_env.isidentifier():
            # The value is not shown: it may be a key put in the wrong place.
            raise OptionError("api_key_env: expected the name of an environment variable, e.g. OPENAI_API_KEY")
        self.read_key()

    def split(self) -> tuple[str | None, dict[str, str]]:
        """Returns the address without its query, and the query; ``None`` is OpenAI's own address."""
        address = self.base_url or os.environ.get("OPENAI_BASE_URL") or None
        if address is None:
            return None, {}
        parts = urlsplit(address)
        return urlunsplit(parts._replace(query="")), dict(parse_qsl(parts.query, keep_blank_values=True))

    def read_key(self) -> str:
        """Returns the key from the environment, or ``NO_KEY`` if the variable is unset and the server is not OpenAI's.

        Raises:
            OptionError: if a key is needed and missing, or holds characters that no header can hold.
        """
        key = os.environ.get(self.api_key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise OptionError(f"{self.api_key_env}: expected a key of printable ASCII characters")
        if key:
            return key
        if self.base_url or os.environ.get("OPENAI_BASE_URL"):
            return NO_KEY
        raise OptionError(
            f"there is no key for OpenAI: set the environment variable {self.api_key_env}, or give the base_url of a"
            " server that needs no key"
        )


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
            return read_reply(await self._sdk.post("/chat/completions", body=request, cast_to=object))
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
        key = self._sdk.api_key
        if len(key) >= _SHORTEST_SECRET:
            message = message.replace(key, "***")
        return " ".join(message.split())[:_MAX_QUOTED]


def _names_secret(name: str) -> bool:
    """Says whether a field of a query may hold a secret: ``key``, ``api_key``, ``accessToken``, ``authorization``."""
    words = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())
    return any(word.startswith("auth") or word.endswith(_SECRET_NAMES) for word in words)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error and what it came from, the outermost first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class ClientPool:
    """The connections of language models: whoever makes a pool hands it to the policies that share it, and closes it.

    It serves one event loop at a time. Clients that were not closed end with their loop; in another loop the pool begins anew.
    """

    def __init__(self) -> None:
        self._clients: dict[Endpoint, Client] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def client(self, endpoint: Endpoint) -> Client:
        """Returns the client for an endpoint.

        Raises:
            RuntimeError: if another event loop, which is not closed, still uses the pool.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._clients and self._loop is not None and not self._loop.is_closed():
                raise RuntimeError("a ClientPool serves one event loop at a time: close it before another one uses it")
            self._clients, self._loop = {}, loop
        client = self._clients.get(endpoint)
        if client is None:
            client = self._clients[endpoint] = Client(endpoint)
            await client.open()
        return client

    async def close(self) -> None:
        """Closes all connections; the pool may be used again afterwards."""
        clients, self._clients = self._clients, {}
        async with AsyncExitStack() as stack:
            for client in clients.values():
                stack.push_async_callback(client.close)
