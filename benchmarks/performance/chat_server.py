"""A chat server that takes no time to think: every reply is the same, after a set latency.

    python -m benchmarks.performance.chat_server --text '{"coins": 3}'

It prints its port and serves until its standard input is closed.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from aiohttp import web

from benchmarks.options import option, parse


@dataclass(frozen=True)
class Options:
    """Options of the server."""

    text: str = option("ready", "what it replies")
    latency: float = option(0.0, "seconds before each reply")


def completion(text: str) -> bytes:
    """Returns a chat completion that says ``text``."""
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": "echo",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 500, "completion_tokens": 5, "total_tokens": 505},
        }
    ).encode()


async def serve(text: str, latency: float) -> None:
    """Serves on a free port of loopback until standard input ends."""
    body = completion(text)

    async def reply(request: web.BaseRequest) -> web.Response:
        await request.read()
        if latency:
            await asyncio.sleep(latency)
        return web.Response(body=body, content_type="application/json")

    runner = web.ServerRunner(web.Server(reply))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


@contextlib.contextmanager
def running(text: str, latency: float = 0.0) -> Iterator[str]:
    """Runs the server in a process of its own.

    Args:
        text: its reply.
        latency: seconds before each reply.

    Yields:
        Its base address.
    """
    command = [sys.executable, "-m", "benchmarks.performance.chat_server", f"--text={text}", f"--latency={latency}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.stdin.close()
            process.wait(timeout=30)


if __name__ == "__main__":
    options = parse(Options, __doc__)
    asyncio.run(serve(options.text, options.latency))
