"""The models of a run: whoever owns a service hands it to the policies that share it, and closes it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from agents.models.calls import Call
from agents.models.client import Client
from agents.models.endpoint import Endpoint
from agents.models.local.models import LocalModels
from agents.models.retry import RetryLimits, retry
from agents.policy import Reply


@dataclass(frozen=True)
class Target:
    """A model on a server, and how long it is asked.

    Attributes:
        endpoint: the server.
        model: name of the model as the server knows it.
        limits: how often and how long it is asked for one reply.
    """

    endpoint: Endpoint
    model: str
    limits: RetryLimits


class ModelService:
    """Sends the requests of all policies that share it.

    It serves one event loop at a time. Clients that were not closed end with their loop; in another loop the service begins
    anew.

    Args:
        on_call: told of every call when it has ended, in the task of whoever asked.

    Attributes:
        local: the models that are computed in this process.
    """

    def __init__(self, on_call: Callable[[Call], None] = lambda call: None) -> None:
        self._on_call = on_call
        self._clients: dict[Endpoint, Client] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.local = LocalModels(on_call)

    async def complete(self, target: Target, request: Mapping[str, Any], *, agent: str, sample: str) -> Reply:
        """Returns the reply to a request for a chat completion.

        Args:
            target: who is asked.
            request: the body.
            agent: id of the seat that asks.
            sample: tells apart replies to the same request that shall be drawn anew.

        Raises:
            ProviderError: if no valid reply could be had.
        """
        client = await self._client(target.endpoint)
        reply, calls = await retry(lambda: client.complete(dict(request)), target.limits, target.model)
        return replace(reply, calls=calls)

    async def _client(self, endpoint: Endpoint) -> Client:
        """Returns the client for an endpoint.

        Raises:
            RuntimeError: if another event loop, which is not closed, still uses the service.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._clients and self._loop is not None and not self._loop.is_closed():
                raise RuntimeError(
                    "a ModelService serves one event loop at a time: close it before another one uses it"
                )
            self._clients, self._loop = {}, loop
        client = self._clients.get(endpoint)
        if client is None:
            client = self._clients[endpoint] = Client(endpoint)
            await client.open()
        return client

    async def close(self) -> None:
        """Closes all connections and releases local models; the service may be used again afterwards."""
        clients, self._clients = self._clients, {}
        async with AsyncExitStack() as stack:
            for client in clients.values():
                stack.push_async_callback(client.close)
            stack.push_async_callback(self.local.close)
