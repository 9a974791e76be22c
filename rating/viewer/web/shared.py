"""A cache that computes each value once for concurrent requests."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from starlette.concurrency import run_in_threadpool

T = TypeVar("T")

_KEPT = 50
"""Maximum number of cached values."""


class Shared(Generic[T]):
    """LRU cache whose values are computed in threads, once per key."""

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, asyncio.Task[T]] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Returns the cached value of a key, or computes it. Failed computations are not cached.

        Args:
            key: cache key.
            make: computes the value, in a thread.
        """
        task = self._made.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._made[key] = asyncio.create_task(run_in_threadpool(make))
        self._made.move_to_end(key)
        while len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return await asyncio.shield(task)  # a cancelled request must not cancel the others
