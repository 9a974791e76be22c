"""The attempts at one reply: bounded in number and in time, with random waits between them."""

import random
from dataclasses import dataclass

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus

FIRST_WAIT = 0.5
"""Seconds: upper end of the random wait before the second attempt; it doubles with every attempt."""

LONGEST_WAIT = 60.0
"""Seconds: the random wait grows no further."""

_jitter = random.Random()  # spreads attempts in time and decides nothing else


@dataclass(frozen=True)
class RetryLimits:
    """How long a server is asked.

    Attributes:
        max_attempts: greatest number of attempts, at least 1; those that fail while the endpoint is out do not count.
        timeout: seconds an attempt may take.
        deadline: seconds that all attempts and the random waits between them may take. Waiting for a turn, for a limit of the
            server and for the end of an outage is no part of it.
        outage: seconds that an endpoint may be out, or may ask to wait, before its calls are given up.
    """

    max_attempts: int
    timeout: float
    deadline: float
    outage: float = 3600.0


class Attempts:
    """What was tried for one reply.

    Args:
        limits: how often and how long is tried.
        what: the name of the model, for messages.

    Attributes:
        made: attempts made so far, all of them.
    """

    def __init__(self, limits: RetryLimits, what: str) -> None:
        self.made = 0
        self._limits = limits
        self._what = what
        self._counted = 0
        self._spent = 0.0

    @property
    def seconds(self) -> float:
        """Seconds until the deadline, if all of it goes into the next attempt."""
        return self._limits.deadline - self._spent

    def spare(self) -> None:
        """Counts an attempt that failed since the endpoint is out."""
        self.made += 1

    def fail(self, error: TransientError, seconds: float) -> float:
        """Counts an attempt that failed, and returns how long to wait before the next.

        The wait has full jitter: a uniformly random time up to a bound that doubles. A refusal for too many requests has none:
        whoever lets calls through knows when the next is due.

        Args:
            error: why it failed.
            seconds: that it took.

        Raises:
            ProviderError: if nothing more is tried.
        """
        self.made += 1
        self._counted += 1
        self._spent += seconds
        if error.retry_after > self._limits.outage:
            raise ProviderError(
                f"{self._what} asks to wait {round(error.retry_after, 1):g} s, which is longer than an outage may be"
                f" ({self._limits.outage:g} s): {error}",
                fatal=True,
                status=error.status,
            ) from error
        if self._counted >= self._limits.max_attempts:
            raise self._give_up(error, "") from error
        is_gated = error.status is CallStatus.RATE_LIMITED
        wait = 0.0
        if not is_gated:
            wait = _jitter.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(self._counted - 1, 60)))
        self._spent += wait
        if self._spent >= self._limits.deadline:
            raise self._give_up(error, f" at the deadline of {self._limits.deadline:g} s") from error
        return wait if is_gated else wait + error.retry_after

    def _give_up(self, error: TransientError, why: str) -> ProviderError:
        attempts = "1 attempt" if self.made == 1 else f"{self.made} attempts"
        return ProviderError(f"{self._what}: {error}; gave up after {attempts}{why}", final=True, status=error.status)
