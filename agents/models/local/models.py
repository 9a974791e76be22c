"""The local models of a run."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from agents.errors import ProviderError
from agents.models.calls import UNKNOWN_TOKENS, Call, CallStatus
from agents.models.local.checkpoint import Checkpoint, Completion, Request

if TYPE_CHECKING:
    from agents.models.local.model import LocalModel

BASE_URL = "local"
"""Replaces the server address in the call log."""

_T = TypeVar("_T")


class LocalModels:
    """The local models of a run, each with its own thread, which computes one reply at a time.

    Args:
        on_call: called after every call, in the calling task.
    """

    def __init__(self, on_call: Callable[[Call], None] = lambda call: None) -> None:
        self._on_call = on_call
        self._models: dict[Checkpoint, LocalModel] = {}
        self._threads: dict[Checkpoint, ThreadPoolExecutor] = {}
        self._stopped: Exception | None = None

    async def load(self, checkpoint: Checkpoint) -> None:
        """Loads a model.

        Raises:
            ProviderError: if it cannot be loaded.
        """
        await self._in_thread(checkpoint, self._load, checkpoint)

    async def complete(self, checkpoint: Checkpoint, request: Request, *, agent: str) -> Completion:
        """Returns the reply to a request.

        Args:
            checkpoint: the model.
            request: the request.
            agent: id of the calling seat.

        Raises:
            ProviderError: if the model cannot be loaded or fails, or the reply exceeds its time limit.
        """
        if self._stopped is not None:
            raise self._stopped.with_traceback(None)
        asked_at = time.monotonic()
        began_at: float | None = None

        def compute() -> Completion:
            nonlocal began_at
            if self._stopped is not None:
                raise self._stopped.with_traceback(None)
            began_at = time.monotonic()
            try:
                return self._load(checkpoint).reply(request)
            except ProviderError:
                raise
            except Exception as error:  # torch errors have no common class
                reason = f"hf:{checkpoint.path} failed: {type(error).__name__}: {error}"[:500]
            raise ProviderError(reason, final=True)  # not in the handler, whose traceback keeps tensors alive

        def report(status: CallStatus, **fields: Any) -> None:
            if began_at is not None:
                waited, latency = began_at - asked_at, time.monotonic() - began_at
                call = Call(checkpoint.path, BASE_URL, agent, 1, status, waited=waited, latency=latency, **fields)
                self._on_call(call)

        try:
            completion = await self._in_thread(checkpoint, compute)
        except asyncio.CancelledError:
            request.cancelled.set()
            report(CallStatus.CANCELLED, **UNKNOWN_TOKENS)
            raise
        except ProviderError as error:
            report(CallStatus.UNAVAILABLE, error=str(error), **UNKNOWN_TOKENS)
            raise
        report(
            CallStatus.CONTEXT_LENGTH if completion.finish_reason == CallStatus.CONTEXT_LENGTH else CallStatus.OK,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
        )
        return replace(completion, waited=(began_at or asked_at) - asked_at)

    def stop(self, error: Exception) -> None:
        """Stops the models: waiting and later calls raise ``error``; calls in progress continue."""
        self._stopped = error

    async def drained(self) -> None:
        """Waits until all computation has ended."""
        await asyncio.gather(*[self._in_thread(checkpoint, lambda: None) for checkpoint in self._threads])

    async def close(self) -> None:
        """Releases all models; they can be used again afterwards."""
        threads, self._threads = self._threads, {}
        for thread in threads.values():
            await asyncio.to_thread(thread.shutdown)
        self._models.clear()

    async def _in_thread(self, checkpoint: Checkpoint, function: Callable[..., _T], *arguments: Any) -> _T:
        """Runs a function in the thread of a model."""
        if checkpoint not in self._threads:
            self._threads[checkpoint] = ThreadPoolExecutor(1, "local-model")
        return await asyncio.get_running_loop().run_in_executor(self._threads[checkpoint], function, *arguments)

    def _load(self, checkpoint: Checkpoint) -> "LocalModel":
        from agents.models.local.model import load_model

        if checkpoint not in self._models:
            self._models[checkpoint] = load_model(checkpoint)
        return self._models[checkpoint]
