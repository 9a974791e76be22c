"""The local models of a run."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from agents.errors import ProviderError
from agents.models.calls import UNKNOWN_TOKENS, Call, CallStatus
from agents.models.local.batcher import Batcher, LocalTarget
from agents.models.local.jobs import CONTEXT, Job, Outcome

BASE_URL = "local"
"""Replaces the server address in the call log."""


class LocalModels:
    """One batcher for each model, shared by all policies that play it.

    Args:
        on_call: called after every call, in the calling task.
    """

    def __init__(self, on_call: Callable[[Call], None] = lambda call: None) -> None:
        self._on_call = on_call
        self._batchers: dict[LocalTarget, Batcher] = {}
        self._stopped: Exception | None = None

    def batcher(self, target: LocalTarget) -> Batcher:
        """Returns the batcher of a model."""
        return self._batchers.setdefault(target, Batcher(target))

    async def complete(self, target: LocalTarget, job: Job, *, agent: str) -> Outcome:
        """Returns the outcome of a job.

        Args:
            target: the model.
            job: the job.
            agent: id of the calling seat.

        Raises:
            ProviderError: if the model cannot be loaded or fails, or the job exceeds its time limit.
        """
        if self._stopped is not None:
            raise self._stopped.with_traceback(None)
        try:
            outcome = await self.batcher(target).submit(job)
        except asyncio.CancelledError:
            self._report_failure(target, job, agent, CallStatus.CANCELLED, "")
            raise
        except ProviderError as error:
            self._report_failure(target, job, agent, CallStatus.UNAVAILABLE, str(error))
            raise
        call = _call(
            target,
            agent,
            CallStatus.CONTEXT_LENGTH if outcome.finish_reason == CONTEXT else CallStatus.OK,
            waited=outcome.waited,
            latency=outcome.latency,
            prompt_tokens=outcome.prompt_tokens,
            completion_tokens=outcome.completion_tokens,
        )
        self._on_call(call)
        return outcome

    def _report_failure(self, target: LocalTarget, job: Job, agent: str, status: CallStatus, error: str) -> None:
        if not job.began_at:  # it never started
            return
        waited, latency = job.began_at - job.asked_at, time.monotonic() - job.began_at
        self._on_call(_call(target, agent, status, waited=waited, latency=latency, error=error, **UNKNOWN_TOKENS))

    def stop(self, error: Exception) -> None:
        """Stops the models: waiting and later calls raise ``error``; calls in progress continue."""
        self._stopped = error
        for batcher in self._batchers.values():
            batcher.drop_waiting(error)

    async def drained(self) -> None:
        """Waits until all computation has ended."""
        await asyncio.gather(*[batcher.drained() for batcher in self._batchers.values()])

    async def close(self) -> None:
        """Releases all models; they can be used again afterwards."""
        batchers, self._batchers = self._batchers, {}
        async with AsyncExitStack() as stack:
            for batcher in batchers.values():
                stack.push_async_callback(batcher.close)


def _call(target: LocalTarget, agent: str, status: CallStatus, **fields: Any) -> Call:
    """Returns the record of a call; a reply has only one."""
    return Call(target.checkpoint.path, BASE_URL, agent, 1, status, **fields)
