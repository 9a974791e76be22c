"""Tasks of one event loop that share a queue of work."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar


class Worker(Protocol):
    """The resources of a task, e.g. the policies of a match."""

    async def close(self) -> None:
        """Releases its resources."""


W = TypeVar("W", bound=Worker)


async def run_workers(workers: Sequence[W], work: Callable[[W], Coroutine[Any, Any, None]]) -> None:
    """Runs ``work`` for all workers at once, and closes them.

    Raises:
        Exception: the first error, after the other tasks have been cancelled.
    """
    tasks = [asyncio.create_task(work(worker)) for worker in workers]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for worker in workers:
            await worker.close()
