"""Adaptive limits of one model on one server: concurrency, request rate and pauses.

The number of requests in flight follows TCP congestion control (Jacobson, Congestion avoidance and control, 1988): slow start,
additive increase, multiplicative decrease. A concurrency limit cannot enforce a limit of requests per minute if replies are
instant, so a refusal also sets a request rate. Callers pass in all times; the module reads no clock.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass

from agents.models.server.connection import MAX_CONNECTIONS
from agents.models.server.rate_headers import read_pause

FIRST_LIMIT = 20
"""Initial limit of requests in flight."""

DECREASE = 0.8
"""Factor on the limit after a refusal."""

WINDOW = 1.0
"""Seconds: shortest window of successful replies before the limit grows."""

FIRST_COOL_DOWN, LONGEST_COOL_DOWN = 1.0, 30.0
"""Seconds without requests after a refusal without a stated pause; doubled with each consecutive refusal."""

LONGEST_HEADER_PAUSE = 60.0
"""Seconds: longest pause because of reply headers."""

PACE_MARGIN = 0.9
"""Factor on the measured reply rate, for the request rate after a refusal."""

SLOWEST_PACE = 0.05
"""Requests per second."""

SLOWEST_GUESS = 0.1
"""Share of the rate measured last: refusals without a reply do not lower the rate further, since pauses grow meanwhile."""

_MINUTE = 60.0
_BURST = 12  # a twelfth of the limit per minute is allowed in a burst
_WINDOWS_TO_DOUBLE = 4  # windows without a refusal after which growth of limit and pace doubles
_PACE_SLACK = 0.05  # seconds: tolerance for a late timer
_MEASURED, _REMEMBERED = 1.0, 30.0  # seconds: shortest and longest time to measure the reply rate
_RECOVERY = 1.25  # growth factor of a pace per window, until its first refusal
_RETURN = 2.0  # growth factor below the pace that was measured last, as in slow start
_ENOUGH = 4  # replies in a measurement of the reply rate
_PROBING = 0.02  # growth of a pace per longer window afterwards
_PROBING_WINDOW = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RequestLimits:
    """Limits set by the user.

    Attributes:
        max_in_flight: maximum number of concurrent requests.
        requests_per_minute: maximum number of requests in any minute, or ``None``.
        tokens_per_minute: maximum number of prompt and completion tokens in any minute, or ``None``.
    """

    max_in_flight: int = MAX_CONNECTIONS
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


NO_LIMITS = RequestLimits()
"""No limits except on connections."""


class Pace:
    """A rate limiter: the generic cell rate algorithm (ITU-T I.371).

    Args:
        rate: units per second, above 0.
        slack: tolerated earliness in seconds; allows a burst after a pause.
    """

    def __init__(self, rate: float, slack: float) -> None:
        self.rate = rate
        self.slack = slack
        self._due = float("-inf")

    @property
    def ready_at(self) -> float:
        """Earliest time of the next unit."""
        return self._due - self.slack

    def is_behind(self, now: float) -> bool:
        """Returns whether the rate is currently limiting: more was taken than is due."""
        return self._due > now

    def take(self, now: float, units: float = 1.0) -> None:
        """Counts units sent now."""
        self._due = max(self._due, now) + units / self.rate

    def correct(self, units: float) -> None:
        """Adds a correction for earlier units: actual minus expected cost."""
        self._due += units / self.rate


def per_minute(limit: int) -> Pace:
    """Returns a rate limiter for at most ``limit`` units in any minute, a twelfth of them in a burst.

    Units that come together, as the tokens of a request do, can exceed the limit by the last request of a minute.
    """
    burst = limit // _BURST
    rate = (limit - burst) / _MINUTE
    return Pace(rate, burst / rate)


class Ticket:
    """A request admitted by a limiter.

    Attributes:
        number: number of requests admitted before it.
        sent_at: time of admission.
        tokens: expected cost.
        is_probe: whether it tests if an outage is over.
    """

    __slots__ = ("is_probe", "number", "sent_at", "tokens")

    def __init__(self, number: int, sent_at: float, tokens: float) -> None:
        self.number = number
        self.sent_at = sent_at
        self.tokens = tokens
        self.is_probe = False


class AdaptiveLimiter:
    """Adaptive limits of one model on one server, learned from its replies.

    Args:
        name: of the model, for the log.

    Attributes:
        in_flight: number of requests in flight.
        limit: current maximum of ``in_flight``.
        sent: number of admitted requests.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name
        self.in_flight = 0
        self.limit = FIRST_LIMIT
        self._cap = MAX_CONNECTIONS
        self._cap_is_logged = False
        self._requests: Pace | None = None
        self._tokens: Pace | None = None
        self._pace: Pace | None = None
        self._closed_until = -math.inf
        self._idle_since = -math.inf
        self.sent = 0
        self._era = 0  # number of the first request after the last decrease
        self._is_slow_start = True
        self._refusals = 0  # decreases since the last successful reply
        self._clean = 0  # successful replies in the window
        self._clean_windows = 0
        self._window_start = -math.inf
        self._pace_window_start = -math.inf
        self._pace_windows = 0
        self._is_paced = False  # whether the pace delayed the last request
        self._pace_was_refused = False
        self._measured_pace = 0.0  # from enough replies; a lower pace is a guess
        self._replies = 0.0
        self._measured_since: float | None = None

    @property
    def learned_pace(self) -> float | None:
        """Maximum request rate per second, learned from refusals; ``None`` without one."""
        return None if self._pace is None else self._pace.rate

    @property
    def counts_tokens(self) -> bool:
        """Whether ``enter`` needs the tokens of a request."""
        return self._tokens is not None

    def restrict(self, limits: RequestLimits) -> None:
        """Sets limits of a user of the limiter; the strictest limits set apply."""
        self._cap = min(self._cap, limits.max_in_flight)
        self.limit = min(self.limit, self._cap)
        self._requests = _stricter(self._requests, limits.requests_per_minute)
        self._tokens = _stricter(self._tokens, limits.tokens_per_minute)

    def ready_at(self) -> float:
        """Returns the earliest time for the next request; infinity if another one must end first."""
        return math.inf if self.in_flight >= self.limit else self.open_at()

    def open_at(self) -> float:
        """Returns the earliest time for the next request, ignoring the limit of requests in flight."""
        at = self._closed_until
        for pace in (self._pace, self._requests, self._tokens):
            if pace is not None and pace.ready_at > at:
                at = pace.ready_at
        return at

    def enter(self, now: float, tokens: float = 0.0) -> Ticket:
        """Admits a request."""
        if self._measured_since is None:
            self._measured_since = self._window_start = now
        elif self.in_flight == 0:
            # Idle time says nothing about the server.
            self._measured_since += max(now - max(self._idle_since, self.open_at()), 0.0)
        ticket = Ticket(self.sent, now, tokens)
        self.sent += 1
        self.in_flight += 1
        if self._requests is not None:
            self._requests.take(now)
        if self._tokens is not None:
            self._tokens.take(now, tokens)
        if self._pace is not None:
            self._is_paced = self._pace.is_behind(now + self._pace.slack / 2)
            self._pace.take(now)
        return ticket

    def leave(self, now: float) -> None:
        """Removes a request without learning from it."""
        self.in_flight -= 1
        self._idle_since = now

    def succeed(self, ticket: Ticket, now: float, tokens: int | None = None) -> None:
        """Removes a request that got a reply.

        Args:
            ticket: the request.
            now: the time.
            tokens: its actual cost, or ``None`` if unknown.
        """
        is_used = self.in_flight * 2 > self.limit
        self.leave(now)
        if tokens is not None and self._tokens is not None:
            self._tokens.correct(tokens - ticket.tokens)
        self._replies += 1.0
        self._forget(now)
        if ticket.number < self._era:
            return
        self._refusals = 0
        self._clean += 1
        if is_used:
            if self._is_slow_start:
                self._grow(1, now)
            elif self._clean >= self.limit and now - self._window_start >= WINDOW:
                self._grow(min(2 ** (self._clean_windows // _WINDOWS_TO_DOUBLE), max(self.limit // 4, 1)), now)
                self._clean_windows = min(self._clean_windows + 1, 100)
        if self._pace is not None:
            self._quicken(self._pace, now)

    def fail(self, ticket: Ticket, now: float) -> None:
        """Removes a request without a reply and restarts the growth window."""
        self.leave(now)
        self._clean, self._window_start = 0, now

    def refuse(self, ticket: Ticket, now: float, retry_after: float = 0.0) -> None:
        """Removes a request that the server refused because of its rate limit.

        Args:
            ticket: the request.
            now: the time.
            retry_after: pause in seconds requested by the server, or 0.
        """
        self.leave(now)
        pause = retry_after
        if ticket.number >= self._era:
            self._learn_pace(now)
            self._is_slow_start = False
            self.limit = max(int(self.limit * DECREASE), 1)
            pause = pause or min(FIRST_COOL_DOWN * 2**self._refusals, LONGEST_COOL_DOWN)
            self._refusals = min(self._refusals + 1, 30)
            self._era = self.sent
            self._clean, self._clean_windows, self._window_start = 0, 0, now
            _log.info(
                "%s: too many requests; at most %d at once%s, and none for %.1f s",
                self._name,
                self.limit,
                "" if self._pace is None else f" and {self._pace.rate:.3g} a second",
                pause,
            )
        self._closed_until = max(self._closed_until, now + pause)

    def heed(self, headers: Mapping[str, str], now: float) -> None:
        """Closes the limiter while response headers report an exhausted quota."""
        if headers:
            self._closed_until = max(self._closed_until, now + min(read_pause(headers), LONGEST_HEADER_PAUSE))

    def reopen(self, now: float) -> None:
        """Restarts after an outage with half the limit, because all waiting requests at once would be too many."""
        self.limit = max(self.limit // 2, 1)
        self._era = self.sent
        self._clean, self._window_start = 0, now
        self._replies, self._measured_since = 0.0, now

    def _grow(self, step: int, now: float) -> None:
        if self.limit < self._cap:
            self.limit = min(self.limit + step, self._cap)
        elif not self._cap_is_logged:
            self._cap_is_logged = True
            _log.info("%s: %d requests are in flight; no more are allowed (max_in_flight)", self._name, self.limit)
        self._clean, self._window_start = 0, now

    def _quicken(self, pace: Pace, now: float) -> None:
        """Raises a limiting pace after a window without a refusal."""
        if not self._is_paced:
            self._pace_window_start = now
            return
        is_guess = pace.rate < self._measured_pace
        is_probing = self._pace_was_refused and not is_guess
        if now - self._pace_window_start < max(
            _PROBING_WINDOW if is_probing else WINDOW, (2 if is_guess else 4) / pace.rate
        ):
            return
        self._pace_window_start = now
        if is_guess:
            pace.rate = min(pace.rate * _RETURN, self._measured_pace)
        elif is_probing:
            pace.rate *= 1 + min(_PROBING * 2 ** (self._pace_windows // _WINDOWS_TO_DOUBLE), _RECOVERY - 1)
            self._pace_windows = min(self._pace_windows + 1, 100)
        else:
            pace.rate *= _RECOVERY

    def _learn_pace(self, now: float) -> None:
        """Sets the pace below the measured reply rate.

        A cool-down counts as time, because a token bucket refills meanwhile. Measurements of less than a second continue, except
        in slow start.
        """
        since = now if self._measured_since is None else self._measured_since
        seconds = now - since
        self._pace_windows, self._pace_window_start = 0, now
        if seconds >= _MEASURED or self._is_slow_start:
            known = math.inf if self._pace is None else self._pace.rate
            measured = self._replies / max(seconds, _MEASURED) if self._replies else known / 2
            if math.isfinite(measured):
                slowest = SLOWEST_PACE if self._replies else max(SLOWEST_PACE, self._measured_pace * SLOWEST_GUESS)
                learned = max(min(known, measured) * PACE_MARGIN, slowest)
                if self._replies >= _ENOUGH:
                    self._measured_pace = learned
                self._set_pace(learned)
            self._replies, self._measured_since = 0.0, now

    def _set_pace(self, rate: float) -> None:
        if self._pace is None:
            self._pace = Pace(rate, _PACE_SLACK)
        else:
            self._pace.rate, self._pace_was_refused = rate, True

    def _forget(self, now: float) -> None:
        """Drops the older half of a long reply count."""
        if self._measured_since is not None and now - self._measured_since > _REMEMBERED:
            self._replies *= _REMEMBERED / 2 / (now - self._measured_since)
            self._measured_since = now - _REMEMBERED / 2


def _stricter(pace: Pace | None, limit: int | None) -> Pace | None:
    if limit is None:
        return pace
    new = per_minute(limit)
    return new if pace is None or new.rate < pace.rate else pace
