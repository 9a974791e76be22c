"""The model service of a run, shared by its policies.

A call waits in the ``RequestQueue`` of its model, is sent by a ``client``, and is retried within the limits of
``retry``.
"""

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from agents.errors import ProviderError, TransientError
from agents.models.cache import ReplyCache, cache_key
from agents.models.calls import UNKNOWN_TOKENS, Call, CallStatus
from agents.models.limits.adaptive_limiter import NO_LIMITS, RequestLimits
from agents.models.limits.request_queue import RequestQueue
from agents.models.limits.retry import Attempts, RetryLimits
from agents.models.local.models import LocalModels
from agents.models.preflight import check_model
from agents.models.server.client import Client, Response
from agents.models.server.endpoint import Endpoint
from agents.policy import Reply

_UNBILLED = frozenset({CallStatus.RATE_LIMITED, CallStatus.UNAVAILABLE})
"""Statuses that are certainly free of charge if retried; late or partial replies can be billed."""

_BYTES_PER_TOKEN = 4

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Target:
    """A model on a server, with limits.

    Attributes:
        endpoint: the server.
        model: name of the model on the server.
        limits: limits on retries of one reply.
        rates: limits on concurrency and rates, over all callers.
        idle: seconds without data after which a streamed reply fails; ``None`` for no stream.
    """

    endpoint: Endpoint
    model: str
    limits: RetryLimits
    rates: RequestLimits = NO_LIMITS
    idle: float | None = None

    @property
    def base_url(self) -> str:
        """The address of the server without its query; empty for the default one."""
        return self.endpoint.split()[0] or ""


class ModelService:
    """Sends the requests of all policies that share it.

    Calls of one model on one server share a queue and a limiter. A service serves one event loop at a time. Open clients are
    closed with their loop; in another loop the service starts again.

    Args:
        on_call: called after every call, in the calling task.
        cache: reply cache; closed by its owner.
        offline: whether only the cache is used, so no key is needed; a reply missing there is an error.
        on_send: called before every request is sent, in the calling task; if it raises, nothing is sent.

    Attributes:
        in_flight: number of requests in flight.
        offline: whether only the cache is used.
        local: the local models in this process.
    """

    def __init__(
        self,
        on_call: Callable[[Call], None] = lambda call: None,
        cache: ReplyCache | None = None,
        *,
        offline: bool = False,
        on_send: Callable[[Call], None] = lambda call: None,
    ) -> None:
        self._on_call = on_call
        self._on_send = on_send
        self._cache = cache
        self.offline = offline
        self._loop: asyncio.AbstractEventLoop | None = None
        self._clients: dict[Endpoint, Client] = {}
        self._queues: dict[tuple[str, str], RequestQueue] = {}
        self._targets: dict[Target, tuple[str, RequestQueue]] = {}
        self._callers = itertools.count()
        self._stopped: Exception | None = None
        self._stopping = asyncio.Event()
        self._idle = asyncio.Event()
        self.in_flight = 0
        self.local = LocalModels(on_call)

    @property
    def limit(self) -> int:
        """Current limit of requests in flight, over all models in use."""
        return sum(queue.limiter.limit for queue in self._queues.values())

    async def complete(self, target: Target, request: Mapping[str, Any], *, agent: str, sample: str) -> Reply:
        """Returns the reply to a request for a chat completion.

        Args:
            target: the model.
            request: the body.
            agent: id of the calling seat.
            sample: distinguishes independent samples of the same request.

        Raises:
            ProviderError: if there was no valid reply.
        """
        if self._stopped is not None:
            raise self._stopped.with_traceback(None)
        if self._cache is None:
            return await self._ask(target, request, agent)
        key = cache_key(target.endpoint, target.model, request, sample)
        async with self._cache.lock(key):
            known = self._cache.find(key)
            if known is not None:
                self._on_call(Call(target.model, target.base_url, agent, 1, CallStatus.CACHED))
                return known
            return self._cache.keep(key, target.model, await self._ask(target, request, agent))

    async def preflight(self, target: Target, request: Mapping[str, Any]) -> None:
        """Sends a small request to test the connection, without queueing.

        Args:
            target: the model.
            request: the body.

        Raises:
            ProviderError: if it fails; the message gives advice.
        """
        client = await self._client(target.endpoint)

        async def send(attempt: int, seconds: float) -> None:
            call = Call(target.model, target.base_url, "", attempt, CallStatus.OK)
            await self._send(client, target, request, min(seconds, target.limits.timeout), call)

        await check_model(send, target.model, target.base_url)

    def stop(self, error: Exception) -> None:
        """Stops the service: waiting and later calls raise ``error``; requests in flight continue."""
        self._stopped = error
        self._stopping.set()
        for queue in self._queues.values():
            queue.stop(error)
        self.local.stop(error)

    async def drained(self) -> None:
        """Waits until no request is in flight."""
        while self.in_flight:
            self._idle.clear()
            await self._idle.wait()
        await self.local.drained()

    async def close(self) -> None:
        """Closes all connections and releases local models; the service can be used again afterwards."""
        clients, self._clients = self._clients, {}
        async with AsyncExitStack() as stack:
            for client in clients.values():
                stack.push_async_callback(client.close)
            stack.push_async_callback(self.local.close)

    async def _ask(self, target: Target, request: Mapping[str, Any], agent: str) -> Reply:
        """Sends a request with retries."""
        if self.offline:
            raise ProviderError(
                f"{target.model}: the reply is not in the cache, and nothing is sent offline: the request, the address of the"
                " server or the sample is another one than when the cache was filled; ask the model without --offline",
                final=True,
            )
        client = await self._client(target.endpoint)
        base_url, queue = self._queue(target)
        limits, caller, time = target.limits, next(self._callers), asyncio.get_running_loop().time
        tokens = _estimate_tokens(request) if queue.limiter.counts_tokens else 0.0
        attempts = Attempts(limits, target.model)
        waited, idle_since, again = 0.0, time(), False
        while True:
            ticket = await queue.enter(patience=limits.outage, tokens=tokens, again=again)
            wait = round(ticket.sent_at - idle_since, 3)
            waited += wait
            call = Call(target.model, base_url, agent, attempts.made + 1, CallStatus.OK, waited=wait)
            try:
                response = await self._send(client, target, request, min(limits.timeout, attempts.seconds), call)
            except TransientError as error:
                failure = error
            except ProviderError:
                queue.reject(ticket)
                raise
            except BaseException:
                queue.cancel(ticket)
                raise
            else:
                queue.succeed(ticket, _count_tokens(response.reply), response.headers)
                return replace(response.reply, calls=call.attempt, waited=waited, request_id=response.request_id)
            idle_since = time()
            again = failure.status is CallStatus.RATE_LIMITED
            if queue.fail(ticket, caller, failure, limits.outage):
                attempts.spare()
            else:
                pause = attempts.fail(failure, idle_since - ticket.sent_at)
                _log.info("%s: %s; attempt %d follows in %.1f s", target.model, failure, attempts.made + 1, pause)
                await self._pause(pause)

    async def _send(
        self, client: Client, target: Target, request: Mapping[str, Any], seconds: float, call: Call
    ) -> Response:
        """Makes one attempt of at most ``seconds``, and reports it."""
        time = asyncio.get_running_loop().time
        self._on_send(call)
        began = time()
        self.in_flight += 1
        try:
            async with asyncio.timeout(seconds):
                response = await client.complete(request, idle=target.idle)
            self._on_call(_describe_reply(call, response, time() - began))
            return response
        except TimeoutError as error:
            late = TransientError(f"no complete reply within {seconds:.6g} s", status=CallStatus.TIMEOUT)
            self._on_call(_describe_failure(call, late, time() - began))
            raise late from error
        except ProviderError as error:
            self._on_call(_describe_failure(call, error, time() - began))
            raise
        except asyncio.CancelledError:
            cancelled = replace(call, status=CallStatus.CANCELLED, latency=time() - began, **UNKNOWN_TOKENS)
            self._on_call(cancelled)
            raise
        finally:
            self.in_flight -= 1
            if not self.in_flight:
                self._idle.set()

    async def _pause(self, seconds: float) -> None:
        """Waits, at most until the service is stopped."""
        if seconds > 0:
            try:
                async with asyncio.timeout(seconds):
                    await self._stopping.wait()
            except TimeoutError:
                pass

    def _queue(self, target: Target) -> tuple[str, RequestQueue]:
        """Returns the address of a target and its queue, after applying the limits of the target."""
        found = self._targets.get(target)
        if found is None:
            base_url = target.base_url
            queue = self._queues.get((base_url, target.model))
            if queue is None:
                queue = RequestQueue(f"{target.model} at {base_url or 'the default server'}")
                self._queues[base_url, target.model] = queue
                if self._stopped is not None:
                    queue.stop(self._stopped)
            queue.limiter.restrict(target.rates)
            found = self._targets[target] = base_url, queue
        return found

    async def _client(self, endpoint: Endpoint) -> Client:
        """Returns the client for an endpoint.

        Raises:
            RuntimeError: if another open event loop still uses the service.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._clients and self._loop is not None and not self._loop.is_closed():
                raise RuntimeError(
                    "a ModelService serves one event loop at a time: close it before another one uses it"
                )
            self._loop = loop
            self._clients, self._queues, self._targets = {}, {}, {}
            self._stopping, self._idle, self.in_flight = asyncio.Event(), asyncio.Event(), 0
        client = self._clients.get(endpoint)
        if client is None:
            client = self._clients[endpoint] = Client(endpoint)
            await client.open()
        return client


def _describe_reply(call: Call, response: Response, seconds: float) -> Call:
    reply = response.reply
    return Call(
        call.model,
        call.base_url,
        call.agent,
        call.attempt,
        CallStatus.OK,
        response.http_status,
        response.request_id,
        call.waited,
        seconds,
        reply.prompt_tokens,
        reply.completion_tokens,
        reply.cached_tokens,
        reply.reasoning_tokens,
    )


def _describe_failure(call: Call, error: ProviderError, seconds: float) -> Call:
    status = error.status or CallStatus.MALFORMED
    is_free = error.final or status in _UNBILLED
    return replace(
        call,
        status=status,
        http_status=error.http_status,
        request_id=error.request_id,
        latency=seconds,
        error=str(error),
        **({} if is_free else UNKNOWN_TOKENS),
    )


def _estimate_tokens(request: Mapping[str, Any]) -> float:
    """Returns a quarter of the bytes of the messages (UTF-8), plus the token limit of the reply."""
    read = len(json.dumps(request.get("messages"), ensure_ascii=False).encode(errors="replace")) / _BYTES_PER_TOKEN
    written = request.get("max_completion_tokens", request.get("max_tokens", 0))
    return read + written if isinstance(written, int) else read


def _count_tokens(reply: Reply) -> int | None:
    """Returns prompt and completion tokens together, or ``None`` if one of them is unknown."""
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        return None
    return reply.prompt_tokens + reply.completion_tokens
