"""HTTP server in this process: a listening socket and uvicorn without its signal handlers and logs."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from llmarena_envs.core.options import OptionError, check_int

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_CONNECTIONS = 200
"""Connections above which requests get status 503. Leaves file descriptors for recording matches."""

_STOP_SECONDS = 2
"""Seconds for open requests to finish when the server stops."""

_REQUEST_SECONDS = 0.1
"""Seconds for accepted connections to send their request when the server stops."""


def listen(host: str, port: int) -> socket.socket:
    """Returns a listening socket. Port 0 selects any free port.

    Raises:
        OptionError: if the address is not available.
    """
    check_int("--port", port, 0, 65_535)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OptionError(
            f"--host, --port: expected an address of this machine that is free, got {host}:{port} ({error});"
            " --port 0 takes any free port"
        ) from error


def is_loopback(listener: socket.socket) -> bool:
    """Returns whether a socket is reachable from this machine only."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def authority(listener: socket.socket) -> str:
    """Returns ``host:port`` of a socket for a URL. For a wildcard address, the host is the machine's name."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        return f"{socket.gethostname()}:{port}"
    return f"{f'[{host}]' if ':' in host else host}:{port}"


@asynccontextmanager
async def serving(app: "ASGIApp", listener: socket.socket) -> AsyncIterator["uvicorn.Server"]:
    """Serves an application while entered. On exit, accepted connections are answered, in at most ``_STOP_SECONDS``.

    Args:
        app: ASGI application.
        listener: listening socket, which is closed on exit.
    """
    closable = _Closable(app)
    server = _quiet_server(closable)
    task = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        yield server
    finally:
        server.should_exit = True
        await task


class _Closable:
    """ASGI middleware that ends endless responses, such as server-sent events, when the server closes.

    Args:
        app: wrapped application.

    Attributes:
        closing: set when the server closes; the application then sees all clients as disconnected.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self.closing = asyncio.Event()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answers a request."""
        begun = ended = False

        async def noting(message: "Message") -> None:
            nonlocal begun, ended
            begun = True
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async def receive_or_close() -> "Message":
            received, closing = asyncio.ensure_future(receive()), asyncio.ensure_future(self.closing.wait())
            try:
                await asyncio.wait((received, closing), return_when=asyncio.FIRST_COMPLETED)
                return received.result() if received.done() else {"type": "http.disconnect"}
            finally:
                received.cancel()
                closing.cancel()

        await self._app(scope, receive_or_close, noting)
        if begun and not ended:
            await send({"type": "http.response.body", "body": b""})


def _quiet_server(app: "_Closable") -> "uvicorn.Server":
    """Returns a uvicorn server without signal handlers and logging, which closes the application after the last request."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # uvicorn resets connections that have not sent their request
            for server in self.servers:
                server.close()
            await asyncio.sleep(_REQUEST_SECONDS)
            app.closing.set()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        http="h11",
        log_config=None,  # uvicorn's default closes existing log handlers
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    return Server(config)
