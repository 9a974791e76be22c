"""Whether an endpoint is out, found out by the calls that fail one after the other; knows no clock of its own."""

import errno
import math
import random
import socket

from agents.errors import ProviderError

FIRST_PROBE, LONGEST_PROBE = 1.0, 30.0
"""Seconds before the first probe of an outage and between later ones, which double; a quarter more or less by chance."""

LONGEST_REQUESTED = 300.0
"""Seconds: a server that asks for a longer pause is probed nevertheless."""

FEWEST_DOWN, FEWEST_BROKEN, ENOUGH = 2, 3, 8
"""Failures in a row that make an outage: as many as there are calls under way, but no fewer and no more than these."""

_jitter = random.Random()  # spreads probes in time and decides nothing else


_DOWN_STATUSES = frozenset({502, 503, 504, 529})
_DOWN_ERRNOS = frozenset({errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH})
_MAX_CAUSES = 10
_MAX_SUSPECTS = 1000


def is_down(error: ProviderError) -> bool:
    """Says whether every other call would fail in the same way: no connection, or a proxy says that the server is not there.

    A time-out, a server error, a reset connection or garbage may be due to the one request.
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
    """An endpoint that may be out.

    Attributes:
        began: when the outage began, or ``None`` if there is none.
        probe_at: when the endpoint is asked next.
    """

    def __init__(self) -> None:
        self.began: float | None = None
        self.probe_at = -math.inf
        self._wait = FIRST_PROBE
        self._downs = 0
        self._first_down = 0  # number of the request that failed first in the row
        self._sent = 0  # requests sent when that was known
        self._callers: dict[int, None] = {}
        self._suspects: dict[
            int, None
        ] = {}  # calls that failed while others were replied to: it may be their own fault

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
        """Learns of an attempt that failed.

        Args:
            now: the time.
            caller: tells calls apart; the attempts of one call share it.
            number: how many requests were sent before this attempt.
            sent: how many have been sent by now.
            is_down: whether every other call would fail in the same way.
            under_way: attempts under way, this one included.
            is_probe: whether the attempt was a probe of the outage.
            retry_after: seconds that the server asks to wait, or 0.
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
        """Learns that the endpoint is there: it replied, or refused a request for what was in it or for its number.

        A server that shuts down still replies to what it was sent before: nothing is learned from it about those it turned away.

        Args:
            number: how many requests were sent before it.
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
        enough = max(min(under_way, sent - self._first_down), FEWEST_DOWN)  # requests sent before say nothing about now
        return self._downs >= max(enough, (sent - self._sent) / 2)

    def _put_off(self, now: float, retry_after: float) -> None:
        self.probe_at = now + max(self._wait * _jitter.uniform(0.75, 1.25), min(retry_after, LONGEST_REQUESTED))
