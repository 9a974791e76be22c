"""What is asked of a local model, and what comes back."""

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
"""Finish reasons: the model ended, the limit of tokens was reached, the prompt leaves no room for a reply, nobody waits."""


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        text: the reply.
        finish_reason: ``stop``, ``length`` or ``context_length``.
        prompt_tokens: tokens read.
        completion_tokens: tokens written, with the one that ends the reply.
        log_likelihood: of the reply, where moves were scored, else ``None``.
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
    """A reply that is wanted.

    Attributes:
        mode: how the reply is made, one of ``MODES``.
        prompt: what the model reads.
        moves: the legal replies; in mode ``generate`` none.
        max_tokens: greatest number of tokens of the reply in mode ``generate``.
        temperature: of the distribution that is drawn from; 0 for the likeliest.
        normalise: in mode ``score``, whether the log-likelihood is divided by the number of tokens.
        seed: of the draws.
        timeout: seconds the reply may take once its batch has begun.
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
    """Takes the outcome or the error, in the thread that computes."""
    is_abandoned: bool = False
    """Nobody waits for the reply any more."""
    is_settled: bool = False
    asked_at: float = field(default_factory=time.monotonic)
    began_at: float = 0.0

    @property
    def kind(self) -> tuple[str, int]:
        """Jobs of one kind are of about the same length, and share their forward passes."""
        return self.mode, self.max_tokens

    def gives_up(self, now: float) -> bool:
        """Says whether nothing more is to be computed for the job, and settles it if its time is over."""
        is_late = now - self.began_at > self.timeout
        if is_late and not self.is_settled:
            self.settle(ProviderError(f"no complete reply within {self.timeout:g} s", final=True))
        return self.is_settled or self.is_abandoned

    def generator(self) -> np.random.Generator:
        """Returns a new generator of the job's own draws, the same whatever else is computed beside it."""
        seed, call = self.seed
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(call,)))
