"""Requests to a local model, and their outcomes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.errors import ProviderError

GENERATE = "generate"
CONSTRAINED = "constrained"
SCORE = "score"
MODES = (GENERATE, CONSTRAINED, SCORE)

STOP = "stop"
LENGTH = "length"
CONTEXT = "context_length"
GIVEN_UP = "given_up"
"""Finish reasons: end of the reply, token limit, prompt too long for a reply, abandoned."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job.

    Attributes:
        text: the reply.
        finish_reason: ``stop``, ``length`` or ``context_length``.
        prompt_tokens: number of prompt tokens.
        completion_tokens: number of tokens of the reply, including its end.
        log_likelihood: of the reply in mode ``score``, else ``None``.
        waited: seconds in the queue.
        latency: seconds from the beginning of its batch to the reply.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    log_likelihood: float | None = None
    waited: float = 0.0
    latency: float = 0.0


@dataclass(eq=False)
class Job:
    """A requested reply.

    Attributes:
        mode: one of ``MODES``.
        prompt: text of the prompt.
        moves: the legal replies; empty in mode ``generate``.
        max_tokens: maximum number of tokens of the reply in mode ``generate``.
        temperature: sampling temperature; 0 for the likeliest.
        normalise: in mode ``score``, whether the log-likelihood is divided by the number of tokens.
        seed: of the samples.
        timeout: seconds for the reply, from the start of its batch.
    """

    mode: str
    prompt: str
    moves: tuple[str, ...] = ()
    max_tokens: int = 0
    temperature: float = 0.0
    normalise: bool = False
    seed: tuple[int, int] = (0, 0)
    timeout: float = 600.0
    settle: Callable[[Any], None] = field(default=lambda result: None, repr=False)
    """Takes the outcome or the error, in the worker thread."""
    is_abandoned: bool = False
    """Whether the caller stopped waiting."""
    is_settled: bool = False
    asked_at: float = field(default_factory=time.monotonic)
    began_at: float = 0.0

    @property
    def kind(self) -> tuple[str, int]:
        """Jobs of one kind have similar lengths, and share forward passes."""
        return self.mode, self.max_tokens

    def gives_up(self, now: float) -> bool:
        """Returns whether the job needs no more computation; fails it if its time is over."""
        is_late = now - self.began_at > self.timeout
        if is_late and not self.is_settled:
            self.settle(ProviderError(f"no complete reply within {self.timeout:g} s", final=True))
        return self.is_settled or self.is_abandoned

    def generator(self) -> np.random.Generator:
        """Returns a new random generator of the job, independent of other jobs."""
        seed, call = self.seed
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(call,)))
