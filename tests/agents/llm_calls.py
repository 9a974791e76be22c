"""Asking a policy against a scripted server."""

import asyncio

import pytest

from agents.errors import ProviderError
from agents.models.llm import LLMPolicy
from tests.support.hostile_server import hostile_server

SECRET = "sk-secret-0123456789"
OBSERVATION = {"rules": "the rules", "text": "the text"}


def ask(server, *observations, **options):
    """Makes a policy, asks it once for each observation, and returns the replies."""
    policy = LLMPolicy("mock", base_url=server.url, **options)

    async def run():
        replies = [await policy(observation) for observation in observations or [OBSERVATION]]
        await policy.close()
        return replies

    return asyncio.run(run())


def ask_once(*script, **options):
    with hostile_server(*script) as server:
        return ask(server, **options)[0], server.requests


def fail(*script, **options):
    with hostile_server(*script) as server, pytest.raises(ProviderError) as raised:
        ask(server, **options)
    return raised.value, server.requests
