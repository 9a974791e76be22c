"""A chat server on loopback that fails as planned, fast enough for hundreds of matches at once.

    with fault_server(lambda request: HTTP_500 if request.number % 3 == 0 else OK, rate=40) as server:
        ...  # LLMPolicy("mock", base_url=server.url)
        server.stop()  # the port refuses connections
        server.start()  # it is back, on the same port

A plan says for each request what becomes of it; it runs in the server's thread.
"""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

KILOBYTE = 1024


@dataclass(frozen=True)
class Fault:
    """What becomes of a request.

    Attributes:
        name: under which the server counts it.
        status: HTTP status.
        body: of the response; ``None`` for a chat completion.
        headers: of the response.
        behaviour: ``answer``; ``hang``: nothing is ever sent; ``reset``: the connection is reset; ``half_close``: half of the
            response, then the server sends no more and does not close; ``cut``: half of the response, then it closes;
            ``trickle``: a byte at a time.
        seconds: between two bytes of a trickle.
        padding: bytes that make the reply longer.
        model: named in the chat completion, in place of the one that was asked for.
        finish_reason: of the chat completion.
    """

    name: str
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    behaviour: str = "answer"
    seconds: float = 0.02
    padding: int = 0
    model: str = ""
    finish_reason: str = "stop"


_BUSY = json.dumps({"error": {"message": "too many requests", "type": "requests", "code": "rate_limit_exceeded"}})
_PAGE = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
_ERROR = b'{"error": {"message": "planned failure", "type": "server_error"}}'

OK = Fault("ok")
HTTP_429 = Fault("429", 429, _BUSY.encode())
HTTP_500 = Fault("500", 500, _ERROR)
HTTP_502_PAGE = Fault("502 page", 502, _PAGE, {"Content-Type": "text/html"})
HTTP_503 = Fault("503", 503, _ERROR)
HANG = Fault("hang", behaviour="hang")
RESET = Fault("reset", behaviour="reset")
HALF_CLOSE = Fault("half close", behaviour="half_close")
CUT = Fault("cut", behaviour="cut")
GARBAGE = Fault("garbage", body=b"\x00\xff garbage \xfe")
TRUNCATED_JSON = Fault("truncated JSON", body=b'{"id": "1", "choices": [{"mess')
PAGE = Fault("page", body=b"<html>please log in</html>", headers={"Content-Type": "text/html"})
WRONG_MODEL = Fault("wrong model", model="quite-another-model")
TRICKLE = Fault("trickle", behaviour="trickle")
ABORT = Fault("abort", finish_reason="abort")
MEGABYTE = Fault("megabyte", padding=KILOBYTE * KILOBYTE)

FAILURES = (
    HTTP_500,
    HTTP_502_PAGE,
    HANG,
    RESET,
    HALF_CLOSE,
    CUT,
    GARBAGE,
    TRUNCATED_JSON,
    PAGE,
    ABORT,
    TRICKLE,
)
"""Faults without a reply in time and without a refusal."""


def busy(retry_after: float) -> Fault:
    """Returns a refusal that asks to wait, seconds."""
    return Fault("429", 429, _BUSY.encode(), {"Retry-After": f"{retry_after:g}"})


@dataclass(frozen=True)
class Request:
    """A request as it came.

    Attributes:
        number: from 0.
        seconds: since the server began.
        body: the decoded JSON.
    """

    number: int
    seconds: float
    body: Any


Plan = Callable[[Request], Fault]


class FaultServer:
    """A server in its own thread; all its attributes can be read while it runs.

    Args:
        plan: what becomes of each request.
        reply: makes the text of a reply; the response names its request's number as ``X-Request-Id``.
        latency: seconds before each response; can be changed at any time.
        rate: requests a second that are let through, with a bucket of as many; the others get status 429.
        retry_after: seconds that such a refusal asks to wait, or ``None`` for no word about it.

    Attributes:
        url: base address, ending in ``/v1``.
        log: number, seconds and name of the fault of each request.
        counts: number of requests for each name of a fault.
        in_flight, busiest: requests under way, now and at most.
    """

    def __init__(
        self,
        plan: Plan = lambda request: OK,
        *,
        reply: Callable[[Request], str] = lambda request: "ready",
        latency: float = 0.0,
        rate: float | None = None,
        retry_after: float | None = None,
    ) -> None:
        self._plan, self._reply, self.latency = plan, reply, latency
        self._rate, self._tokens, self._filled_at = rate, rate or 0.0, time.monotonic()
        self._refusal = HTTP_429 if retry_after is None else busy(retry_after)
        self._began = time.monotonic()
        self.log: list[tuple[int, float, str]] = []
        self.counts: Counter[str] = Counter()
        self.in_flight = self.busiest = 0
        self._runner: web.AppRunner | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-server", daemon=True)
        self._thread.start()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self.start()

    def start(self) -> None:
        """Listens, on the same port as ever."""
        self._call(self._start())

    def stop(self) -> None:
        """Closes every connection and listens no more."""
        self._call(self._stop())

    def close(self) -> None:
        """Ends the server for good."""
        self.stop()
        self._call(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)
        self._loop.close()

    def _call(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=30)

    async def _start(self) -> None:
        app = web.Application(client_max_size=64 * KILOBYTE * KILOBYTE)
        app.router.add_post("/v1/chat/completions", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True, backlog=4096).start()

    async def _stop(self) -> None:
        runner, self._runner = self._runner, None
        if runner is None:
            return
        server = runner.server
        await runner.cleanup()
        await asyncio.sleep(0)  # connections that were accepted meanwhile
        if server is not None:
            await server.shutdown(0.01)

    async def _serve(self, http: web.Request) -> web.StreamResponse:
        body = await http.json()
        request = Request(len(self.log), time.monotonic() - self._began, body)
        fault = self._refusal if self._is_over_the_limit() else self._plan(request)
        self.log.append((request.number, request.seconds, fault.name))
        self.counts[fault.name] += 1
        self.in_flight += 1
        self.busiest = max(self.busiest, self.in_flight)
        try:
            if self.latency:
                await asyncio.sleep(self.latency)
            body = fault.body if fault.body is not None else self._complete(request, fault)
            return await _send(http, fault, body, str(request.number))
        finally:
            self.in_flight -= 1

    def _is_over_the_limit(self) -> bool:
        if self._rate is None:
            return False
        now = time.monotonic()
        self._tokens = min(self._rate, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._tokens < 1:
            return True
        self._tokens -= 1
        return False

    def _complete(self, request: Request, fault: Fault) -> bytes:
        text = self._reply(request) + " " * fault.padding
        message = {"role": "assistant", "content": text}
        completion = {
            "id": f"chatcmpl-{request.number}",
            "object": "chat.completion",
            "created": 1,
            "model": fault.model or request.body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": fault.finish_reason}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
        }
        return json.dumps(completion).encode()


async def _send(http: web.Request, fault: Fault, body: bytes, request_id: str) -> web.StreamResponse:
    headers = {"Content-Type": "application/json", "X-Request-Id": request_id, **fault.headers}
    if fault.behaviour == "answer":
        return web.Response(status=fault.status, body=body, headers=headers)
    if fault.behaviour in ("hang", "reset"):
        if fault.behaviour == "hang":
            await asyncio.sleep(3600)
        assert http.transport is not None
        http.transport.abort()
        return web.Response()
    response = web.StreamResponse(status=fault.status, headers={**headers, "Content-Length": str(len(body))})
    await response.prepare(http)
    if fault.behaviour == "trickle":
        with contextlib.suppress(ConnectionError):  # the client is gone
            for byte in body:
                await response.write(bytes([byte]))
                await asyncio.sleep(fault.seconds)
        return response
    await response.write(body[: len(body) // 2])
    assert http.transport is not None
    if fault.behaviour == "half_close":
        http.transport.write_eof()
        await asyncio.sleep(3600)
    http.transport.close()
    return response


async def _cancel_others() -> None:
    """Ends what still serves a connection that was reset."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextlib.contextmanager
def fault_server(plan: Plan = lambda request: OK, **options: Any) -> Iterator[FaultServer]:
    """Runs a ``FaultServer``, and always ends it."""
    server = FaultServer(plan, **options)
    try:
        yield server
    finally:
        server.close()
