"""Safe calls of policy code: exceptions, time limits, threads."""

import asyncio
import inspect
import threading
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from agents.errors import ProviderError, Quit
from agents.secret import hide_keys


class provider_errors:
    """Converts exceptions inside a policy to ``ProviderError``, except ``Quit``.

    This includes ``SystemExit``, and a cancellation raised by the policy itself while the match is not cancelled.

    Args:
        what: the operation, for the message.
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None and _is_failure(error):
            where = "".join(traceback.format_exception(error)[-3:])
            raise ProviderError(hide_keys(f"{self._what} raised {type(error).__name__}: {error}\n{where}")) from error


def _is_failure(error: BaseException) -> bool:
    if isinstance(error, asyncio.CancelledError):
        return not _is_being_cancelled()
    return isinstance(error, Exception | SystemExit) and not isinstance(error, ProviderError | Quit)


def _is_being_cancelled() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:  # a separate thread, which is never cancelled
        return False
    return task is not None and task.cancelling() > 0


@asynccontextmanager
async def time_limit(deadline: float) -> AsyncIterator[None]:
    """Cancels the body after ``deadline`` seconds.

    Raises:
        ProviderError: if the deadline has passed.
    """
    try:
        async with asyncio.timeout(deadline) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise  # raised by the policy
        raise ProviderError(f"no reply within {deadline} s") from error


def call_in_thread(function: Callable[[Any], Any], argument: Any) -> tuple[asyncio.Future[Any], threading.Thread]:
    """Calls a function in a daemon thread, which cannot block the end of the process if the function never returns.

    Returns:
        The future of its result, and the thread, which continues if the future is cancelled.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if future.done():
            if inspect.iscoroutine(result):
                result.close()  # it will not be awaited
        elif error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            with provider_errors("the policy"):
                result = function(argument)
        except Exception as raised:
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return future, thread
