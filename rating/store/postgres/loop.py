"""An event loop in its own thread, for synchronous callers and callers in another loop."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines in an event loop thread while the caller blocks."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="postgres", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine and returns its result; cancels it if the wait is interrupted."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def see_to(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Runs a coroutine unless the thread has ended; does not wait for it if called from the thread itself.

        The garbage collector can finalize a generator in any thread.
        """
        if self.is_closed:
            coroutine.close()
        elif threading.current_thread() is self._thread:
            self._tasks.add(task := self._loop.create_task(coroutine))
            task.add_done_callback(self._tasks.discard)
        else:
            self.run(coroutine)

    @property
    def is_closed(self) -> bool:
        """Whether the event loop is closed."""
        return self._loop.is_closed()

    def close(self) -> None:
        """Ends the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
