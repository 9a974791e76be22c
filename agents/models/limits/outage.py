"""Outage detection from consecutive failed calls; callers pass in the times."""

import errno
import math
import random
import socket

from agents.errors import ProviderError

FIRST_PROBE, LONGEST_PROBE = 1.0, 30.0
"""Seconds before the first probe of an outage, and longest interval of later probes; intervals double, with 25 % jitter."""

LONGEST_REQUESTED = 300.0
"""Seconds: longest pause requested by the server that delays a probe."""

FEWEST_DOWN, FEWEST_BROKEN, ENOUGH = 2, 3, 8
"""Consecutive failures that make an outage: one per call in flight, within these bounds."""

_jitter = random.Random()  # jitter of probe times; no effect on results


_DOWN_STATUSES = frozenset({502, 503, 504, 529})
_DOWN_ERRNOS = frozenset({errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH})
_MAX_CAUSES = 10
_MAX_SUSPECTS = 1000


def is_down(error: ProviderError) -> bool:
    """Returns whether every other call would fail in the same way: no connection, or a proxy reports the server as unavailable.

    A time-out, a server error, a reset connection or an invalid reply can be caused by the single request.
    """
    if error.http_status is not None:
        return error.http_status in _DOWN_STATUSES
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if isinstance(cause, ConnectionRefusedError | socket.gaierror):
            return True
        if cause is None or (isinstance(cause, OSError) and cause.errno in _DOWN_ERRNOS):
            break
        cause = cause.__cause__ or cause.__context__
    return cause is not None


class Outage:
    """Outage state of an endpoint.

    Attributes:
        began: start time of the outage, or ``None`` without one.
        probe_at: time of the next probe.
    """

    def __init__(self) -> None:
        self.began: float | None = None
        self.probe_at = -math.inf
        self._wait = FIRST_PROBE
        self._downs = 0
        self._first_down = 0  # number of the first failed request of the series
        self._sent = 0  # requests sent at that time
        self._callers: dict[int, None] = {}
        self._suspects: dict[int, None] = {}  # calls that failed while others succeeded: possibly their own fault

    def fail(
        self,
        now: float,
        caller: int,
        *,
        number: int,
        sent: int,
        is_down: bool,
        under_way: int,
        is_probe: bool = False,
        retry_after: float = 0.0,
    ) -> None:
        """Records a failed attempt.

        Args:
            now: the time.
            caller: id of the call, shared by its attempts.
            number: number of requests sent before this attempt.
            sent: number of requests sent in total.
            is_down: whether every other call would fail in the same way.
            under_way: attempts in flight, including this one.
            is_probe: whether the attempt was a probe of the outage.
            retry_after: pause in seconds requested by the server, or 0.
        """
        if self.began is not None:
            if is_probe:
                self._wait = min(self._wait * 2, LONGEST_PROBE)
                self._put_off(now, retry_after)
            return
        if is_down:
            if self._downs == 0:
                self._first_down, self._sent = number, sent
            self._downs += 1
        elif number >= self._sent:
            self._downs = 0
        if len(self._callers) < ENOUGH and caller not in self._suspects:
            self._callers[caller] = None
        enough = min(under_way, ENOUGH)
        if self._is_turned_away(enough, sent) or len(self._callers) >= max(enough, FEWEST_BROKEN):
            self.began, self._wait = now, FIRST_PROBE
            self._put_off(now, retry_after)

    def end(self, number: float = math.inf) -> None:
        """Records a response: a reply, a rejected request or a rate limit.

        A server that shuts down still replies to earlier requests, so a response to one does not clear failures of later ones.

        Args:
            number: number of requests sent before it.
        """
        self.began = None
        if number >= self._sent:
            self._downs = 0
        if self._callers:
            self._suspects.update(self._callers)
            self._callers.clear()
            while len(self._suspects) > _MAX_SUSPECTS:
                del self._suspects[next(iter(self._suspects))]

    def _is_turned_away(self, under_way: int, sent: int) -> bool:
        enough = max(min(under_way, sent - self._first_down), FEWEST_DOWN)  # requests sent before do not count
        return self._downs >= max(enough, (sent - self._sent) / 2)

    def _put_off(self, now: float, retry_after: float) -> None:
        self.probe_at = now + max(self._wait * _jitter.uniform(0.75, 1.25), min(retry_after, LONGEST_REQUESTED))
