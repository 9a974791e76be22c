"""The queue of calls before a limiter: first in, first out; during an outage one call at a time probes the endpoint."""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Mapping

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from agents.models.limits.adaptive_limiter import AdaptiveLimiter, Ticket
from agents.models.limits.outage import Outage, is_down

_log = logging.getLogger(__name__)


class _Waiter:
    __slots__ = ("future", "patience", "tokens")

    def __init__(self, future: asyncio.Future[Ticket], tokens: float, patience: float) -> None:
        self.future = future
        self.tokens = tokens
        self.patience = patience


class RequestQueue:
    """The queue of calls of one model on one server.

    It uses a single timer. All methods must be called in the event loop of the waiting calls.

    Args:
        name: of the model and its server, for messages.

    Attributes:
        limiter: adaptive limits.
    """

    def __init__(self, name: str) -> None:
        self.limiter = AdaptiveLimiter(name)
        self._name = name
        self._outage = Outage()
        self._trouble = ""
        self._first: deque[_Waiter] = deque()  # refused calls, sent again first
        self._others: deque[_Waiter] = deque()
        self._least_patience = math.inf  # lower bound over waiting calls
        self._timer: asyncio.TimerHandle | None = None
        self._probe: Ticket | None = None
        self._stop: Exception | None = None

    @property
    def is_out(self) -> bool:
        """Whether the endpoint is in an outage."""
        return self._outage.began is not None

    async def enter(self, *, patience: float, tokens: float = 0.0, again: bool = False) -> Ticket:
        """Waits until a request can be sent. The caller must return the ticket to one of the methods below.

        Args:
            patience: maximum length of an outage, in seconds.
            tokens: expected cost of the request.
            again: whether the request was refused before; it then goes before new requests.

        Raises:
            ProviderError: if the outage lasts longer (fatal), or the error passed to ``stop``.
        """
        if self._stop is not None:
            raise self._stop.with_traceback(None)
        loop = asyncio.get_running_loop()
        if not self._first and not self._others and self._may_send(loop.time()):
            return self._admit(loop.time(), tokens)
        waiter = _Waiter(loop.create_future(), tokens, patience)
        self._least_patience = min(self._least_patience, patience)
        (self._first if again and not self.is_out else self._others).append(waiter)
        self._release(loop)
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter.future.done() and not waiter.future.cancelled() and waiter.future.exception() is None:
                self.cancel(waiter.future.result())  # admitted and cancelled at the same time
            else:
                self._release(loop)
                self._forget_outage()
            raise

    def succeed(self, ticket: Ticket, tokens: int | None, headers: Mapping[str, str]) -> None:
        """Completes a call that got a reply; ``tokens`` is its cost, ``None`` if unknown."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._learn_of_response(ticket, now)
        self.limiter.succeed(ticket, now, tokens)
        self.limiter.heed(headers, now)
        self._depart(ticket, loop)

    def reject(self, ticket: Ticket) -> None:
        """Completes a call that the server rejected because of its content; the server is available."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._learn_of_response(ticket, now)
        self.limiter.leave(now)
        self._depart(ticket, loop)

    def fail(self, ticket: Ticket, caller: int, error: TransientError, patience: float) -> bool:
        """Completes a call that failed.

        Args:
            ticket: the request.
            caller: id of the call, shared by its attempts.
            error: the failure; a pause requested by the server is obeyed up to ``patience``.
            patience: maximum length of an outage, in seconds.

        Returns:
            Whether the endpoint is in an outage.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        if error.status is CallStatus.RATE_LIMITED:
            self._learn_of_response(ticket, now)
            self.limiter.refuse(ticket, now, min(error.retry_after, patience))
        else:
            self._learn_of_trouble(ticket, caller, error, now)
            self.limiter.fail(ticket, now)
        self.limiter.heed(error.headers, now)
        self._depart(ticket, loop)
        return self.is_out

    def cancel(self, ticket: Ticket) -> None:
        """Completes a cancelled call."""
        loop = asyncio.get_running_loop()
        self.limiter.leave(loop.time())
        self._depart(ticket, loop)
        self._forget_outage()

    def stop(self, error: Exception) -> None:
        """Stops the queue: waiting and later calls raise ``error``."""
        self._stop = error
        for queue in (self._first, self._others):
            while queue:
                _fail(queue.popleft(), error)
        self._set_timer(math.inf)

    def _depart(self, ticket: Ticket, loop: asyncio.AbstractEventLoop) -> None:
        if ticket is self._probe:
            self._probe = None
        if self._first or self._others:
            self._release(loop)

    def _learn_of_trouble(self, ticket: Ticket, caller: int, error: TransientError, now: float) -> None:
        was_out = self.is_out
        self._trouble = str(error)
        self._outage.fail(
            now,
            caller,
            number=ticket.number,
            sent=self.limiter.sent,
            is_down=is_down(error),
            under_way=self.limiter.in_flight,
            is_probe=ticket.is_probe,
            retry_after=error.retry_after,
        )
        if self.is_out and not was_out:
            _log.warning("%s is out (%s); its calls wait, and one at a time tries again", self._name, error)

    def _learn_of_response(self, ticket: Ticket, now: float) -> None:
        if self._outage.began is None:
            self._outage.end(ticket.number)
        elif ticket.is_probe:  # the others were sent before the outage and do not show that it is over
            _log.warning("%s is back after %.0f s", self._name, now - self._outage.began)
            self._outage.end()
            self.limiter.reopen(now)

    def _may_send(self, now: float) -> bool:
        if self.is_out:
            return self._probe is None and self._probe_at() <= now
        return self.limiter.ready_at() <= now

    def _probe_at(self) -> float:
        """Returns the time of the next probe during an outage, ignoring other requests in flight."""
        return max(self._outage.probe_at, self.limiter.open_at())

    def _admit(self, now: float, tokens: float) -> Ticket:
        ticket = self.limiter.enter(now, tokens)
        if self.is_out:
            ticket.is_probe = True
            self._probe = ticket
        return ticket

    def _release(self, loop: asyncio.AbstractEventLoop) -> None:
        """Admits all calls that can be sent, and sets the timer for the next one."""
        now = loop.time()
        if self.is_out:
            self._lose_patience(now)
        while (waiter := self._next()) is not None and self._may_send(now):
            (self._first or self._others).popleft()
            waiter.future.set_result(self._admit(now, waiter.tokens))
        if waiter is None:
            self._set_timer(math.inf)
        elif self.is_out:
            until = (self._outage.began or 0.0) + self._least_patience
            self._set_timer(until if self._probe is not None else min(until, self._probe_at()))
        else:
            self._set_timer(self.limiter.ready_at())

    def _next(self) -> _Waiter | None:
        """Returns the first waiting call; drops cancelled ones."""
        for queue in (self._first, self._others):
            while queue:
                if not queue[0].future.done():
                    return queue[0]
                queue.popleft()
        return None

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            if self._timer.when() == at:
                return
            self._timer.cancel()
            self._timer = None
        if at < math.inf:
            self._timer = asyncio.get_running_loop().call_at(at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._release(asyncio.get_running_loop())

    def _lose_patience(self, now: float) -> None:
        """Fails the calls that have exceeded their patience."""
        began = self._outage.began
        if began is None or now < began + self._least_patience:
            return
        for queue in (self._first, self._others):
            for waiter in queue:
                if now >= began + waiter.patience:
                    _fail(waiter, self._unavailable(now - began))
            patient = [waiter for waiter in queue if not waiter.future.done()]
            queue.clear()
            queue.extend(patient)
        waiters = [*self._first, *self._others]
        self._least_patience = min((waiter.patience for waiter in waiters), default=math.inf)
        self._forget_outage()

    def _forget_outage(self) -> None:
        """Resets the outage if no call is left to probe it."""
        if self.is_out and self._next() is None and not self.limiter.in_flight:
            self._outage.end()

    def _unavailable(self, seconds: float) -> ProviderError:
        return ProviderError(
            f"{self._name} has been out for {round(seconds, 1):g} s: {self._trouble}",
            fatal=True,
            status=CallStatus.UNAVAILABLE,
        )


def _fail(waiter: _Waiter, error: Exception) -> None:
    if not waiter.future.done():
        waiter.future.set_exception(error)
