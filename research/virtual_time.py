"""An event loop with a clock of its own: whoever sleeps is woken at once, and the clock says that the time has passed."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_in_virtual_time(main: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """Runs a coroutine that waits for nothing but the clock.

    Returns:
        Its result and the seconds that passed on the clock, which are exact and the same every time.

    Raises:
        RuntimeError: if it waits for something that will never come.
    """
    with asyncio.Runner(loop_factory=_Loop) as runner:
        result = runner.run(main)
        return result, runner.get_loop().time()


class _Selector(selectors.DefaultSelector):
    """Passes the time instead of waiting for it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if timeout is None and not events:
            raise RuntimeError("deadlock: everybody waits, and nobody for the clock")
        self.now += timeout or 0.0
        return events


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now
