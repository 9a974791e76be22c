"""``llmarena serve-policy``: a policy as a chat server."""

import argparse
import asyncio
import contextlib
import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from agents.models import ModelService
from agents.registry import make_policy, split_spec
from llmarena_envs.catalogue import canonical_name, make_environment
from llmarena_envs.core.options import OptionError, check_int, parse_options

if TYPE_CHECKING:
    import uvicorn

_STOP_SECONDS = 2
"""For the requests under way when the server is stopped."""


def serve_policy(args: argparse.Namespace) -> None:
    """Answers requests until it is interrupted, which is how it is meant to end."""
    try:
        import uvicorn

        from agents.serving.app import make_app
        from agents.serving.seat import ServedPolicy
    except ModuleNotFoundError as error:
        raise OptionError(
            f"serve-policy needs {error.name!r}, which is not installed: pip install 'llmarena-envs[serve]'"
        ) from error
    key = _read_key(args.api_key_env)
    name, _ = split_spec(
        args.policy
    )  # without options, which a client's own way of naming models might take for its own
    environment = canonical_name(args.env)
    env = make_environment(args.env, parse_options(args.option, "--option")).unwrapped
    service = ModelService()
    policy = ServedPolicy(env, lambda: make_policy(args.policy, environment, service=service))
    config = uvicorn.Config(
        make_app(policy, name, key),
        log_config=None,  # uvicorn's own would close the handlers that are there
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    with _listen(args.host, args.port) as listener:
        if not _is_loopback(listener) and not key:
            print(
                f"llmarena: {args.host} can be reached from other machines, and everybody there may ask this policy;"
                " --api-key-env NAME asks for a key",
                file=sys.stderr,
            )
        line = f"{args.policy} plays {environment} at {_address(listener)} as model {name}"
        with contextlib.suppress(KeyboardInterrupt):
            args.interruptions.run(partial(_serve, _quiet_server(config), listener, line, policy, service))


async def _serve(server: "uvicorn.Server", listener: socket.socket, line: str, policy: Any, service: Any) -> None:
    """Serves until the task is cancelled, then lets the requests under way end."""
    serving = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        print(line, flush=True)
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise
    finally:
        await policy.close()
        await service.close()


def _quiet_server(config: "uvicorn.Config") -> "uvicorn.Server":
    """Returns a server that leaves the signals to the command line."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Server(config)


def _listen(host: str, port: int) -> socket.socket:
    """Returns a socket bound to an address; port 0 is any free one.

    Raises:
        OptionError: if it cannot be had.
    """
    check_int("--port", port, 0, 65_535)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OptionError(
            f"--host, --port: expected an address of this machine that is free, got {host}:{port} ({error})"
        ) from error


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"


def _read_key(variable: str) -> str:
    """Returns the key that clients must send, from the environment."""
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise OptionError(
            f"--api-key-env: expected a variable with a key of printable ASCII characters, got {variable}"
        )
    return key
