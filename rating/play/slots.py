"""Slots for concurrent matches, shared fairly between the environments of a run."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager


class Slots:
    """A number of slots shared by several groups.

    A free slot goes to the group that holds the fewest; ties go to the group named first. A group with many waiting matches
    thus does not starve the others. Within a group, requests are served in order.

    Args:
        count: number of slots, 1 or more.
        groups: names of the groups; their order breaks ties.

    Attributes:
        count: the number of slots.
    """

    def __init__(self, count: int, groups: Sequence[str]) -> None:
        self.count = count
        self._free = count
        self._held = dict.fromkeys(groups, 0)
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {group: deque() for group in groups}
        self._granting = False

    def widen(self, count: int) -> None:
        """Raises the number of slots to ``count``; never lowers it."""
        added = max(count - self.count, 0)
        self.count += added
        self._free += added
        self._grant_soon()

    @asynccontextmanager
    async def hold(self, group: str) -> AsyncIterator[None]:
        """Waits for a slot and holds it."""
        granted = asyncio.get_running_loop().create_future()
        self._waiting[group].append(granted)
        self._grant_soon()
        try:
            await granted
            yield
        finally:
            if granted.done() and not granted.cancelled():
                self._held[group] -= 1
                self._free += 1
                self._grant_soon()

    def _grant_soon(self) -> None:
        """Grants free slots after all pending requests have been made."""
        if not self._granting:
            self._granting = True
            asyncio.get_running_loop().call_soon(self._grant)

    def _grant(self) -> None:
        self._granting = False
        while self._free and (waiting := [group for group, queue in self._waiting.items() if queue]):
            group = min(waiting, key=self._held.__getitem__)
            granted = self._waiting[group].popleft()
            if not granted.cancelled():
                self._free -= 1
                self._held[group] += 1
                granted.set_result(None)
