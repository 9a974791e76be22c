"""An event loop whose clock jumps to the next timer: hours of waiting take no time."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jump(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("deadlock: all tasks wait, and no timer is set")
        if not ready and timeout is not None:
            self.now += max(timeout, 0.0)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    """A loop that begins at time 0; it does not wait for sockets and threads."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        return self._jump.now


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine in virtual time, which begins at 0 and is exact.

    Raises:
        RuntimeError: if the coroutine waits for something that never happens.
    """
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)
