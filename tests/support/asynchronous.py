"""Tests that are coroutines."""

import asyncio
import functools
from collections.abc import Awaitable, Callable


def asynchronous(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Runs a test in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: object, **fixtures: object) -> None:
        asyncio.run(test(*arguments, **fixtures))

    return run
