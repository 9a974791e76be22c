"""Places for matches under way, shared fairly between the environments of a run."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager


class Slots:
    """A number of slots that several groups share.

    A free slot goes to the group that holds the fewest, among equals to the one named first, so a group with many waiting
    matches does not starve the others; within a group it goes to whoever asked first.

    Args:
        count: number of slots, 1 or more.
        groups: names of the groups; their order decides between equals.

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
        """Makes the number of slots ``count``, if that is more than there are."""
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
        """Grants free slots once everybody who is about to ask has asked."""
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
