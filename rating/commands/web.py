"""``llmarena serve`` and ``--web``: the pages of a run in a browser."""

import argparse
import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agents.desk import Desk
from llmarena_envs.core.options import OptionError
from rating.records.imported import is_import
from rating.running import run_directory
from rating.web.server import authority, is_loopback, listen, serving

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def serve(args: argparse.Namespace) -> None:
    """Shows a run or an import until it is interrupted, which is how it is meant to end."""
    check_installed()
    if not is_import(args.dir):
        run_directory.check_exists(args.dir)
    with open_listener(args) as listener, contextlib.suppress(KeyboardInterrupt):
        args.interruptions.run(lambda: _serve(args.dir, listener))


async def _serve(directory: Path, listener: socket.socket) -> None:
    async with pages(directory, listener, None, ()):
        await asyncio.Event().wait()


def check_installed() -> None:
    """Checks that what serves pages is installed.

    Raises:
        OptionError: if it is not; the message says how to install it.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise OptionError(
            f"pages in a browser need {error.name!r}, which is not installed: pip install 'llmarena-envs[web]'"
        ) from error


def open_listener(args: argparse.Namespace) -> socket.socket:
    """Returns the socket at which the flags have pages served.

    Raises:
        OptionError: if it cannot be had.
    """
    listener = listen(args.host, args.port)
    if not is_loopback(listener):
        print(
            f"llmarena: {args.host} can be reached from other machines, over a connection that everybody on the way can read; who"
            " knows an address may use it",
            file=sys.stderr,
        )
    return listener


@asynccontextmanager
async def pages(
    directory: Path, listener: socket.socket, desk: Desk | None, people: Sequence[str]
) -> AsyncIterator[None]:
    """Serves the pages of a run while entered, and prints their addresses, one a line.

    Args:
        directory: of the run.
        listener: where.
        desk: where people are asked; ``None`` if nobody plays here.
        people: names of those who play.
    """
    from rating.web.app import make_app
    from rating.web.links import keep_links

    links = keep_links(directory, people)
    port = listener.getsockname()[1]
    base = f"http://{authority(listener)}"
    hosts = {authority(listener), *(f"{name}:{port}" for name in LOOPBACK_NAMES)}
    async with serving(make_app(directory, links, hosts, desk), listener):
        for name in people:
            print(f"{name} plays at {base}/play/{links.people[name]}", flush=True)
        print(f"{directory} is shown at {base}/board/{links.board}", flush=True)
        yield
