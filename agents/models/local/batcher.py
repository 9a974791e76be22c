"""Batched inference: concurrent replies of many matches share forward passes."""

import asyncio
import contextlib
import gc
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agents.errors import ProviderError
from agents.models.local.checkpoint import Checkpoint
from agents.models.local.jobs import CONTEXT, SCORE, Job, Outcome

if TYPE_CHECKING:
    from agents.models.local.checkpoint import LocalModel

GATHERING = 0.005
"""Seconds to wait for further jobs unless a batch is full."""


@dataclass(frozen=True)
class LocalTarget:
    """A local model and its computation.

    Attributes:
        checkpoint: the model.
        threads: number of CPU threads.
        max_batch: maximum number of replies in one forward pass.
    """

    checkpoint: Checkpoint
    threads: int
    max_batch: int


class Batcher:
    """Computes jobs in batches, in its own thread; serves one event loop at a time.

    Args:
        target: the model, loaded on first use.
    """

    def __init__(self, target: LocalTarget) -> None:
        self._target = target
        self._model: LocalModel | None = None
        self._waiting: deque[Job] = deque()
        self._is_full = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._threads: ThreadPoolExecutor | None = None

    @property
    def passes(self) -> int:
        """Number of forward passes of the model."""
        return 0 if self._model is None else self._model.passes

    async def load(self) -> None:
        """Loads the model.

        Raises:
            ProviderError: if it cannot be loaded.
        """
        self._enter_loop()
        await asyncio.get_running_loop().run_in_executor(self._pool(), self._load)

    async def submit(self, job: Job) -> Outcome:
        """Returns the outcome of a job.

        Raises:
            ProviderError: if the model cannot be loaded or fails, or the job exceeds its time limit.
        """
        loop = self._enter_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        job.settle = lambda result: _settle(loop, future, job, result)
        self._waiting.append(job)
        if len(self._waiting) >= self._target.max_batch:
            self._is_full.set()
        if self._pump is None or self._pump.done():
            self._pump = loop.create_task(self._work_off())
        try:
            return await future
        finally:
            job.is_abandoned = True

    def drop_waiting(self, error: Exception) -> None:
        """Fails all jobs that are not in a batch yet."""
        for job in self._waiting:
            job.settle(error)
        self._waiting.clear()

    async def drained(self) -> None:
        """Waits until all jobs are done."""
        if self._pump is not None and self._loop is asyncio.get_running_loop():
            await asyncio.wait([self._pump])

    async def close(self) -> None:
        """Waits for the current batch and releases the model; the batcher can be used again afterwards."""
        self.drop_waiting(ProviderError("the model was closed"))
        await self.drained()
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)
        self._model = None

    def _enter_loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if (
                self._loop is not None
                and not self._loop.is_closed()
                and self._pump is not None
                and not self._pump.done()
            ):
                raise RuntimeError("a local model serves one event loop at a time: close it before another one uses it")
            self._loop, self._pump, self._is_full = loop, None, asyncio.Event()
            self._waiting.clear()
        return loop

    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(1, "local-model")
        return self._threads

    async def _work_off(self) -> None:
        """Computes batches until no job is left."""
        while self._waiting:
            if len(self._waiting) < self._target.max_batch:
                self._is_full.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._is_full.wait(), GATHERING)
            jobs = self._next_batch()
            if jobs:
                await asyncio.get_running_loop().run_in_executor(self._pool(), self._compute, jobs)

    def _next_batch(self) -> list[Job]:
        """Removes and returns the next batch: jobs of the same kind as the oldest one, in order."""
        batch: list[Job] = []
        rest: deque[Job] = deque()
        for job in self._waiting:
            if job.is_abandoned:
                continue
            if len(batch) < self._target.max_batch and (not batch or job.kind == batch[0].kind):
                batch.append(job)
            else:
                rest.append(job)
        self._waiting = rest
        return batch

    # In the worker thread.

    def _load(self) -> "LocalModel":
        import torch

        from agents.models.local.checkpoint import load_model

        torch.set_num_threads(self._target.threads)  # affects only this thread
        if self._model is None:
            self._model = load_model(self._target.checkpoint)
        return self._model

    def _compute(self, jobs: Sequence[Job]) -> None:
        """Computes a batch; after a failure, usually for lack of memory, it is retried once in two halves."""
        now = time.monotonic()
        for job in jobs:
            job.began_at = now
        error = self._try(jobs, self._target.max_batch)
        left = [job for job in jobs if not job.is_settled and not job.is_abandoned]
        if error is not None and not error.final and len(left) > 1:
            gc.collect()  # the traceback of the failure keeps its tensors alive
            half = (len(left) + 1) // 2
            for part in (left[:half], left[half:]):
                again = self._try(part, half)
                self._give_up(part, again)
        else:
            self._give_up(left, error)

    def _give_up(self, jobs: Sequence[Job], error: ProviderError | None) -> None:
        for job in jobs:
            if error is not None and not job.is_settled:
                job.settle(ProviderError(str(error), fatal=error.fatal, final=True))

    def _try(self, jobs: Sequence[Job], width: int) -> ProviderError | None:
        """Computes a batch, and returns its error, if any."""
        try:
            self._run(self._load(), jobs, width)
        except ProviderError as error:
            return error
        except Exception as error:  # torch errors have no common class
            return ProviderError(f"hf:{self._target.checkpoint.path} failed: {type(error).__name__}: {error}"[:500])
        return None

    def _run(self, model: "LocalModel", jobs: Sequence[Job], width: int) -> None:
        import torch

        from agents.models.local.scoring import score
        from agents.models.local.writing import write

        prompts = model.encode([job.prompt for job in jobs])
        fitting = []
        for job, prompt in zip(jobs, prompts, strict=True):
            longest = max(map(len, model.encode_moves(job.moves))) if job.moves else 1
            if model.room is not None and len(prompt) + longest > model.room:
                job.settle(Outcome("", CONTEXT, len(prompt), 0))
            else:
                fitting.append((job, prompt))
        if not fitting:
            return
        jobs, prompts = [job for job, _ in fitting], [prompt for _, prompt in fitting]
        with torch.inference_mode():
            if jobs[0].mode == SCORE:
                score(model, jobs, prompts, width)
            else:
                write(model, jobs, prompts)


def _settle(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Outcome], job: Job, result: Outcome | Exception
) -> None:
    """Delivers the result of a job, from any thread."""
    job.is_settled = True
    now = time.monotonic()
    if isinstance(result, Outcome):
        result = replace(result, waited=job.began_at - job.asked_at, latency=now - job.began_at)
    with contextlib.suppress(RuntimeError):  # the loop is closed, so there is no waiter
        loop.call_soon_threadsafe(_hand_over, future, result)


def _hand_over(future: asyncio.Future[Outcome], result: Outcome | Exception) -> None:
    if future.done():
        return
    if isinstance(result, Outcome):
        future.set_result(result)
    else:
        future.set_exception(result)
