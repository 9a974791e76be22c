"""Retries of one call: bounded in number and time, with random waits."""

import random
from dataclasses import dataclass

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus

FIRST_WAIT = 0.5
"""Seconds: upper bound of the random wait before the second attempt; it doubles with every attempt."""

LONGEST_WAIT = 60.0
"""Seconds: maximum of that bound."""

_jitter = random.Random()  # jitter of retry times; no effect on results


@dataclass(frozen=True)
class RetryLimits:
    """Limits on retries.

    Attributes:
        max_attempts: maximum number of attempts, at least 1; failures during an outage do not count.
        timeout: seconds per attempt.
        deadline: seconds for all attempts and the random waits between them. Waiting in the queue, for rate limits and for the
            end of an outage does not count.
        outage: seconds of an outage or a requested pause after which calls fail.
    """

    max_attempts: int
    timeout: float
    deadline: float
    outage: float = 3600.0


class Attempts:
    """The attempts of one call.

    Args:
        limits: limits on retries.
        what: name of the model, for messages.

    Attributes:
        made: number of attempts.
    """

    def __init__(self, limits: RetryLimits, what: str) -> None:
        self.made = 0
        self._limits = limits
        self._what = what
        self._counted = 0
        self._spent = 0.0

    @property
    def seconds(self) -> float:
        """Seconds until the deadline, if all of it is spent on the next attempt."""
        return self._limits.deadline - self._spent

    def spare(self) -> None:
        """Counts an attempt that failed because of an outage."""
        self.made += 1

    def fail(self, error: TransientError, seconds: float) -> float:
        """Counts a failed attempt, and returns the seconds to wait before the next one.

        The wait has full jitter: a uniformly random time up to a bound that doubles. After a rate limit there is no wait, because
        the limiter schedules the next attempt.

        Args:
            error: the failure.
            seconds: duration of the attempt.

        Raises:
            ProviderError: if there are no more attempts.
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
