"""An HTTP server on loopback that answers as scripted: chat completions, and everything that goes wrong with them."""

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One scripted answer.

    Attributes:
        status: HTTP status.
        body: the bytes of the body.
        headers: headers besides ``Content-Length``.
        promised: ``Content-Length`` where it differs from the body's: the connection is closed after the body.
        together: number of requests that must have been under way at once before this one is answered.
        drip: seconds before each byte of the body.
        delay: seconds before anything is sent.
        behaviour: ``answer``; ``raw``, the body without status and headers; ``reset``, the connection is reset; ``hang``,
            nothing is ever sent.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    promised: int | None = None
    together: int = 0
    drip: float = 0.0
    delay: float = 0.0
    behaviour: str = "answer"


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


def json_answer(value: Any, **how: Any) -> Answer:
    return Answer(body=json.dumps(value).encode(), **how)


def completion(message: Mapping[str, Any], finish_reason: str | None = "stop", **changes: Any) -> dict[str, Any]:
    """Returns a chat completion; ``changes`` replace fields, those set to ``...`` are left out."""
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "mock-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def say(text: str | None, finish_reason: str | None = "stop", **how: Any) -> Answer:
    return json_answer(completion({"content": text}, finish_reason), **how)


def error(status: int, code: str | None = None, message: str = "scripted failure", **headers: str) -> Answer:
    body = {"error": {"message": message, "type": "scripted", "param": None, "code": code}}
    return json_answer(body, status=status, headers={"Content-Type": "application/json", **headers})


def html(status: int, text: str = "<html><body><h1>scripted page</h1></body></html>") -> Answer:
    return Answer(status, text.encode(), {"Content-Type": "text/html"})


HANG = Answer(behaviour="hang")
RESET = Answer(behaviour="reset")


class HostileServer:
    """Answers each request with the next scripted answer, and with status 418 after the last one.

    Args:
        script: the answers.
        port: where it listens; 0 for any that is free.

    Attributes:
        url: base address, ending in ``/v1``.
        requests: the requests so far.
        busiest: greatest number of requests under way at once.
        connections: number of connections opened so far.
    """

    def __init__(self, script: Iterable[Answer], port: int = 0) -> None:
        self._script = iter(script)
        self.requests: list[Request] = []
        self.busiest = 0
        self.connections = 0
        self._busy = 0
        self._arrived = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hostile-server")
        self._thread.start()
        self._server = self._call(asyncio.start_server(self._serve, "127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def _call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=30)

    def close(self) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Reads one request and answers it; returns whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ", 2)
        self.requests.append(Request(method, path, headers, json.loads(body) if body else None))
        answer = next(self._script, Answer(418))
        with self._counted():
            while self.busiest < answer.together:
                await self._arrived.wait()
            await asyncio.sleep(answer.delay)
            if answer.behaviour == "hang":
                await asyncio.Event().wait()
            if answer.behaviour == "reset":
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return False
            if answer.behaviour == "raw":
                writer.write(answer.body)
                return False
            await self._send(answer, writer)
        return answer.promised is None

    async def _send(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        length = len(answer.body) if answer.promised is None else answer.promised
        lines = [f"HTTP/1.1 {answer.status} Scripted", f"Content-Length: {length}"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        if answer.drip:
            for byte in answer.body:
                await asyncio.sleep(answer.drip)
                writer.write(bytes([byte]))
                await writer.drain()
        else:
            writer.write(answer.body)
        await writer.drain()

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        self._busy += 1
        self.busiest = max(self.busiest, self._busy)
        self._arrived.set()
        self._arrived = asyncio.Event()
        try:
            yield
        finally:
            self._busy -= 1


@contextlib.contextmanager
def hostile_server(*script: Answer, then: Iterable[Answer] = ()) -> Iterator[HostileServer]:
    """Runs a server that gives the answers of ``script`` and then the ones of ``then``, which can be endless."""
    server = HostileServer([*script] if not then else _chain(script, then))
    try:
        yield server
    finally:
        server.close()


def _chain(first: Iterable[Answer], then: Iterable[Answer]) -> Iterator[Answer]:
    yield from first
    yield from then
