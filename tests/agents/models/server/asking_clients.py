"""Sending requests with a ``Client`` against a scripted server."""

import asyncio

import pytest

from agents.errors import ProviderError
from agents.models.server.client import Client
from agents.models.server.endpoint import Endpoint
from tests.support.hostile_server import hostile_server

REQUEST = {"model": "mock", "temperature": 0.0, "messages": [{"role": "user", "content": "play"}]}
TALK = [
    {"role": "user", "content": "play"},
    {"role": "assistant", "content": "well, well"},
    {"role": "user", "content": "play!"},
]


def complete(server, request=REQUEST, times=1, **how):
    """Sends the same request one after another by one client, and returns the responses."""

    async def run():
        client = Client(Endpoint(server.url, "OPENAI_API_KEY"))
        await client.open()
        try:
            return [await client.complete(request, **how) for _ in range(times)]
        finally:
            await client.close()

    return asyncio.run(run())


def respond(*script, request=REQUEST, **how):
    with hostile_server(*script) as server:
        return complete(server, request, **how)[0]


def refuse(*script, request=REQUEST, **how):
    with hostile_server(*script) as server, pytest.raises(ProviderError) as raised:
        complete(server, request, **how)
    return raised.value
