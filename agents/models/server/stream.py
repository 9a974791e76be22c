"""Server-sent events of a streamed chat completion, joined into one completion."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Any

from agents.errors import TransientError
from agents.models.calls import CallStatus

DONE = "[DONE]"
"""Data of the last event of a stream."""

_DRAIN_SECONDS = 1.0  # to read the end of a response after its last event; otherwise its connection is not reused
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning", "thinking")


async def read_stream(chunks: AsyncIterable[bytes]) -> dict[str, Any]:
    """Returns the completion joined from the chunks of a stream, in the format of a completion without streaming.

    Args:
        chunks: the body, split anywhere.

    Raises:
        TransientError: if the stream stops before its end.
        ValueError: if an event is not a JSON object.
    """
    events = EventReader()
    completion = _Completion()
    iterator = aiter(chunks)
    async for chunk in iterator:
        for data in events.feed(chunk):
            if data == DONE:
                await _drain(iterator)
                return completion.join()
            completion.add(json.loads(data))
    for data in events.end():
        if data != DONE:
            completion.add(json.loads(data))
    if not completion.has_ended:
        raise TransientError("the stream stopped before its end", status=CallStatus.MALFORMED, http_status=200)
    return completion.join()


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    with contextlib.suppress(TimeoutError, TransientError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in chunks:
                pass


class EventReader:
    """Reads the data of server-sent events (WHATWG HTML, section 9.2) from bytes that are split anywhere, in linear time."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """Adds bytes and returns the data of completed events."""
        first, *others = chunk.split(b"\n")
        self._line.append(first)
        found = []
        for begun in others:
            found += self._end_line()
            self._line = [begun]
        return found

    def end(self) -> list[str]:
        """Returns the data of an event completed by the end of the stream, because servers often omit the last empty line."""
        return self._end_line() + self._end_line()

    def _end_line(self) -> list[str]:
        line = b"".join(self._line).removesuffix(b"\r").decode("utf-8-sig")
        self._line = []
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            return []
        data, self._data = self._data, []
        return ["\n".join(data)] if data else []


class _Completion:
    """Collects the chunks of the first choice of a completion."""

    def __init__(self) -> None:
        self._facts: dict[str, Any] = {}
        self._pieces: dict[str, list[Any]] = {}
        self._calls: dict[Any, dict[str, list[str]]] = {}
        self._finish_reason: Any = None
        self._has_choice = False

    @property
    def has_ended(self) -> bool:
        """Whether there is a finish reason or an error."""
        return self._finish_reason is not None or "error" in self._facts

    def add(self, chunk: object) -> None:
        if not isinstance(chunk, dict):
            raise ValueError("an event of the stream is no JSON object")
        for name in ("id", "model", "system_fingerprint", "usage", "error"):
            if chunk.get(name):
                self._facts[name] = chunk[name]
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index") not in (0, None):
            return
        self._has_choice = True
        if choice.get("error"):
            self._facts["error"] = choice["error"]
        if choice.get("finish_reason"):  # some servers send an empty one in every event
            self._finish_reason = choice["finish_reason"]
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._add_delta(delta)

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        for name in (*_TEXTS, "reasoning_details"):
            piece = delta.get(name)
            if piece:
                self._pieces.setdefault(name, []).extend(piece if isinstance(piece, list) else [piece])
        called = delta.get("tool_calls")
        calls = called if isinstance(called, list) else []
        if isinstance(delta.get("function_call"), dict):
            calls = [*calls, {"function": delta["function_call"]}]
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                continue
            index = call.get("index")
            begun = self._calls.setdefault(index if isinstance(index, int) else 0, {"name": [], "arguments": []})
            for name, pieces in begun.items():
                if isinstance(function.get(name), str):
                    pieces.append(function[name])

    def join(self) -> dict[str, Any]:
        """Returns the joined completion."""
        if not self._has_choice:
            return self._facts
        message: dict[str, Any] = {}
        for name, pieces in self._pieces.items():
            is_text = name in _TEXTS and all(isinstance(piece, str) for piece in pieces)
            message[name] = "".join(pieces) if is_text else pieces
        if self._calls:
            message["tool_calls"] = [
                {"function": {name: "".join(pieces) for name, pieces in call.items()}} for call in self._calls.values()
            ]
        return {**self._facts, "choices": [{"message": message, "finish_reason": self._finish_reason}]}
