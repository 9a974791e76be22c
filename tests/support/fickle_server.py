"""A chat server in a process of its own that never answers the same twice: a legal or a bad move, in one of many wordings.

    python -m tests.support.fickle_server PORT SEED FILE

It appends a byte to the file for every request that it answers, and can be killed at any moment.
"""

import asyncio
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

START_SECONDS = 60.0


class FickleServer:
    """The server's process, which is started anew with another seed after every kill.

    Args:
        seed: of its replies.
        log: a file for the server's own use.
    """

    def __init__(self, seed: int, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self._seeds = random.Random(seed)
        self._log = log
        self._log.touch()
        self._process: subprocess.Popen[str] | None = None

    @property
    def answered(self) -> int:
        """How many requests were answered in all."""
        return self._log.stat().st_size

    @contextmanager
    def running(self) -> Iterator[None]:
        """Runs it, and always kills it."""
        self.start()
        try:
            yield
        finally:
            self.kill()

    def start(self) -> None:
        """Starts it and waits until it listens."""
        arguments = map(str, (self._port, self._seeds.getrandbits(32), self._log))
        self._process = subprocess.Popen([sys.executable, "-m", "tests.support.fickle_server", *arguments], text=True)
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None and time.monotonic() < end, "the server did not start"
                time.sleep(0.02)

    def kill(self) -> None:
        """Kills it with SIGKILL, possibly during a response."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(timeout=30)


async def serve(port: int, seed: int, log: Path) -> None:
    """Serves until it is killed."""
    rng = random.Random(seed)
    answered = os.open(log, os.O_WRONLY | os.O_APPEND)

    async def answer(request: web.Request) -> web.StreamResponse:
        messages = (await request.json())["messages"]
        os.write(answered, b".")
        await asyncio.sleep(rng.uniform(0, 0.02))
        if rng.random() < 0.03:
            return web.json_response({"error": {"message": "planned failure"}}, status=503)
        text = _reply(rng, "\n".join(message["content"] for message in messages))
        choice = {
            "message": {"role": "assistant", "content": text},
            "finish_reason": rng.choice(["stop", "stop", "length"]),
        }
        usage = {"prompt_tokens": 11, "completion_tokens": 5}
        return web.json_response({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    await asyncio.Event().wait()


def _reply(rng: random.Random, asked: str) -> str:
    if rng.random() >= 0.8:
        return f"I cannot decide: {rng.random()}"
    mark = re.search(r"You play (\w)\.", asked)
    bidders = re.findall(r"player_[0-9]", asked)
    move = "ready"  # to the question whether it is there
    if mark:
        move = f"{mark[1]}: ({rng.randint(1, 3)}, {rng.randint(1, 3)})"
    elif bidders:
        move = f"{bidders[-1]}: ${rng.randint(0, 9)}.{rng.randint(0, 99):02}"
    return f"Thought {rng.random()}.\n{move}"


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
