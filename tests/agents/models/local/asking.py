"""Requests to local models in tests."""

import asyncio
import itertools

import pytest

from agents.models.local.checkpoint import Checkpoint, Request
from agents.models.local.models import LocalModels
from agents.models.local.policy import HFPolicy
from tests.support.tiny_model import positions

MODELS = ("tiny_model", pytest.param("tiny_qwen", marks=pytest.mark.slow))
MOVES = ("X: (1, 1)", "X: (1, 2)", "X: (1, 22)", "O", "O: 3", "pass")


def observations(count):
    """Returns what is read in ``count`` positions of both board games."""
    read = [messages for messages, _ in itertools.islice(positions(7), count)]
    return [{"rules": rules["content"], "text": text["content"]} for rules, text in read]


def prompts(count):
    """Returns prompts of different lengths."""
    read = [
        f"<|im_start|>system\n{item['rules'][-60:]}<|im_end|>\n<|im_start|>user\n{item['text'][-20 - 13 * (index % 7) :]}"
        "<|im_end|>\n<|im_start|>assistant\n"
        for index, item in enumerate(observations(count))
    ]
    return [*read[1:], "X"] if count > 1 else read


def requests(texts, **fields):
    return [Request(text, **{"max_tokens": 20, "seed": number, **fields}) for number, text in enumerate(texts)]


def checkpoint(path):
    return Checkpoint(str(path))


def complete(wanted, path):
    """Returns the replies to requests that are sent at once."""

    async def run():
        models = LocalModels()
        try:
            return await asyncio.gather(*[models.complete(checkpoint(path), each, agent="a") for each in wanted])
        finally:
            await models.close()

    return asyncio.run(run())


def ask(path, read, *, seed=0, **options):
    """Returns the replies of one policy to observations, one after the other."""
    policy = HFPolicy(str(path), **{"max_tokens": 20, **options})

    async def run():
        policy.reset("player_0", seed)
        try:
            return [await policy(observation) for observation in read]
        finally:
            await policy.close()

    return asyncio.run(run())
