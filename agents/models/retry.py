"""Asking a server again: bounded in number and in time, with jitter, and no sooner than it asks for."""

import asyncio
import datetime
import logging
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from agents.errors import ProviderError, TransientError

FIRST_WAIT = 0.5
"""Seconds: upper end of the random wait before the second attempt; it doubles with every attempt."""

LONGEST_WAIT = 60.0
"""Seconds: the random wait grows no further."""

T = TypeVar("T")
_log = logging.getLogger(__name__)
_jitter = random.Random()  # spreads attempts in time and decides nothing else


@dataclass(frozen=True)
class RetryLimits:
    """How long a server is asked.

    Attributes:
        max_attempts: greatest number of attempts, at least 1.
        timeout: seconds an attempt may take.
        deadline: seconds that all attempts and the waits between them may take.
    """

    max_attempts: int
    timeout: float
    deadline: float


def read_retry_after(headers: Mapping[str, str]) -> float:
    """Returns the seconds a response asks to wait: ``Retry-After`` in seconds or as a date (RFC 9110, section 10.2.3).

    OpenAI's ``retry-after-ms`` comes before it. A date is compared with the response's own ``Date``, so that the clocks need not
    agree. What cannot be read counts as 0.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    until = _read_date(headers.get("retry-after", ""))
    if until is None:
        return 0.0
    now = _read_date(headers.get("date", "")) or datetime.datetime.now(datetime.UTC)
    return max((until - now).total_seconds(), 0.0)


def _read_date(text: str) -> datetime.datetime | None:
    """Returns the date of a header, or ``None`` if it is none; without a time zone it is UTC."""
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=datetime.UTC)


async def retry(call: Callable[[], Awaitable[T]], limits: RetryLimits, what: str) -> tuple[T, int]:
    """Calls until there is a result, and returns it with the number of attempts made.

    The waits have full jitter: a uniformly random time up to a bound that doubles, after what the server asked for.

    Args:
        call: one attempt; raises ``TransientError`` if another one may succeed.
        limits: how often and how long.
        what: the name of the server for messages.

    Raises:
        ProviderError: if the limits are reached, or would be by waiting as long as the server asks.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + limits.deadline
    attempt = 0
    while True:
        attempt += 1
        seconds = min(limits.timeout, end - loop.time())
        try:
            async with asyncio.timeout(seconds):
                return await call(), attempt
        except TimeoutError:
            failure = TransientError(f"no complete reply within {seconds:.3g} s")
        except TransientError as error:
            failure = error
        if attempt == limits.max_attempts:
            raise ProviderError(f"{what}: {failure}; gave up after {attempt} attempts", final=True) from failure
        bound = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
        wait = failure.retry_after + _jitter.uniform(0, bound)
        if loop.time() + wait >= end:
            asked = f", which asked to wait {failure.retry_after:.3g} s" if failure.retry_after else ""
            raise ProviderError(
                f"{what}{asked}: {failure}; gave up after {attempt} attempts at the deadline of {limits.deadline:.3g} s"
            ) from failure
        _log.info("%s: %s; attempt %d follows in %.1f s", what, failure, attempt + 1, wait)
        await asyncio.sleep(wait)
