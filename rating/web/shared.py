"""What several ask for at once is made once, and kept for those who ask next."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from starlette.concurrency import run_in_threadpool

T = TypeVar("T")

_KEPT = 50
"""Things that are kept: those that were asked for last."""


class Shared(Generic[T]):
    """Makes things in threads, each of them once for all who ask for it."""

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, asyncio.Task[T]] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Returns what was made under a key, or makes it; what fails is made again by who asks next.

        Args:
            key: another one for everything else.
            make: called in a thread.
        """
        task = self._made.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._made[key] = asyncio.create_task(run_in_threadpool(make))
        self._made.move_to_end(key)
        while len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return await asyncio.shield(task)  # who goes away takes nothing from the others
