"""``llmarena serve-policy``: a policy as a chat server."""

import argparse
import asyncio
import contextlib
import os
import socket
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from agents.models import ModelService
from agents.registry import make_policy, split_spec
from llmarena_envs.catalogue import canonical_name, make_environment
from llmarena_envs.core.options import OptionError, parse_options
from rating.commands.extras import check_extra
from rating.web.server import authority, is_loopback, listen, serving

if TYPE_CHECKING:
    from starlette.applications import Starlette


def serve_policy(args: argparse.Namespace) -> None:
    """Answers requests until it is interrupted, which is how it is meant to end."""
    check_extra("serve-policy needs", "serve", "uvicorn", "starlette")
    from agents.serving.app import make_app
    from agents.serving.seat import ServedPolicy

    key = _read_key(args.api_key_env)
    name, _ = split_spec(
        args.policy
    )  # without options, which a client's own way of naming models might take for its own
    environment = canonical_name(args.env)
    env = make_environment(args.env, parse_options(args.option, "--option")).unwrapped
    service = ModelService()
    policy = ServedPolicy(env, lambda: make_policy(args.policy, environment, service=service))
    app = make_app(policy, name, key)
    with listen(args.host, args.port) as listener:
        if not is_loopback(listener) and not key:
            print(
                f"llmarena: {args.host} can be reached from other machines, and everybody there may ask this policy;"
                " --api-key-env NAME asks for a key",
                file=sys.stderr,
            )
        line = f"{args.policy} plays {environment} at http://{authority(listener)}/v1 as model {name}"
        with contextlib.suppress(KeyboardInterrupt):
            args.interruptions.run(partial(_serve, app, listener, line, policy, service))


async def _serve(app: "Starlette", listener: socket.socket, line: str, policy: Any, service: Any) -> None:
    """Serves until the task is cancelled."""
    try:
        async with serving(app, listener):
            print(line, flush=True)
            await asyncio.Event().wait()
    finally:
        await policy.close()
        await service.close()


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
