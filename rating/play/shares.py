"""Even shares of a budget: a game with more than its share of the cost waits until the others have used theirs or have ended."""

import asyncio
from collections.abc import Iterable

from rating.store.calls import Bill


class Shares:
    """Shares of the cost budget of a run, one for each game.

    Args:
        cost: budget of the run; ``None`` for no budget.
        bill: cost of the calls.
        environments: games of the run.
    """

    def __init__(self, cost: float | None, bill: Bill, environments: Iterable[str]) -> None:
        self._active = set(environments)
        self._share = None if cost is None or not self._active else cost / len(self._active)
        self._bill = bill
        self._gates = {name: asyncio.Event() for name in self._active}

    async def turn(self, environment: str) -> None:
        """Waits until a match of a game can begin."""
        while not self._can_begin(environment):
            self._gates[environment].clear()
            await self._gates[environment].wait()

    def update(self) -> None:
        """Takes note of new costs: wakes the matches of each waiting game that can begin now."""
        for environment, gate in self._gates.items():
            if not gate.is_set() and self._can_begin(environment):
                gate.set()

    def end(self, environment: str) -> None:
        """Takes note that a game has ended; its unused share is free for the others."""
        self._active.discard(environment)
        self.update()

    def close(self) -> None:
        """Lets every match begin: the run ends, and a match that begins now is halted."""
        self._share = None
        self.update()

    def _can_begin(self, environment: str) -> bool:
        if self._share is None or self._spent(environment) < self._share:
            return True
        return all(self._spent(other) >= self._share for other in self._active - {environment})

    def _spent(self, environment: str) -> float:
        own = [usage for (name, _), usage in self._bill.totals.items() if name == environment]
        return sum(usage.with_unknown(usage.cost) for usage in own)
