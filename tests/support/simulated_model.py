"""A model in virtual time that replaces the client of a service: it follows a plan, and keeps account of it."""

import asyncio
from collections.abc import Callable
from typing import Any

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from agents.models.server.client import Response
from agents.policy import Reply

Plan = Callable[[dict[str, Any], float], float | Exception]
"""What becomes of a request at a time: seconds until the reply, or a failure."""


class Bucket:
    """A limit of requests a second: a bucket of tokens that begins full.

    Args:
        rate: tokens a second.
        size: of the bucket.
        retry_after: the wait that a refusal asks for, seconds.
        latency: seconds of a reply.
    """

    def __init__(self, rate: float, size: float, retry_after: float = 0.0, latency: float = 0.02) -> None:
        self._rate, self._size, self._retry_after, self._latency = rate, size, retry_after, latency
        self._tokens, self._time = size, 0.0

    def __call__(self, request: dict[str, Any], now: float) -> float | Exception:
        self._tokens = min(self._size, self._tokens + (now - self._time) * self._rate)
        self._time = now
        if self._tokens < 1:
            return limited(self._retry_after)
        self._tokens -= 1
        return self._latency


class SimulatedModel:
    """Answers by a plan.

    Args:
        plan: what becomes of a request.
        refusal_latency: seconds of a failure.

    Attributes:
        requests: messages and times of the requests.
        refused: number of refusals.
        in_flight, busiest: requests under way, now and at most.
    """

    def __init__(self, plan: Plan, refusal_latency: float = 0.01) -> None:
        self.plan = plan
        self._refusal_latency = refusal_latency
        self.requests: list[tuple[Any, float]] = []
        self.refused = 0
        self.in_flight = self.busiest = 0

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def complete(self, request: dict[str, Any]) -> Response:
        now = asyncio.get_running_loop().time()
        self.requests.append((request["messages"], now))
        self.in_flight += 1
        self.busiest = max(self.busiest, self.in_flight)
        try:
            outcome = self.plan(request, now)
            if isinstance(outcome, Exception):
                self.refused += getattr(outcome, "status", None) is CallStatus.RATE_LIMITED
                await asyncio.sleep(self._refusal_latency)
                raise outcome
            await asyncio.sleep(outcome)
            return Response(Reply("ready", prompt_tokens=10, completion_tokens=5), 200, "", {})
        finally:
            self.in_flight -= 1


def limited(retry_after: float = 0.0) -> TransientError:
    return TransientError("HTTP 429", retry_after, status=CallStatus.RATE_LIMITED, http_status=429)


def down(status: int = 503) -> TransientError:
    return TransientError(f"HTTP {status}", status=CallStatus.UNAVAILABLE, http_status=status)


def rejected() -> ProviderError:
    return ProviderError("HTTP 400", final=True, status=CallStatus.REJECTED, http_status=400)


HANG = 1e9
"""Seconds of a reply that never comes."""
