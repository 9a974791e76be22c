"""The pages of a run in a browser, for ``serve`` and ``--web``."""

import argparse
import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TextIO

from agents.desk import Desk
from rating.cli.extras import check_extra
from rating.cli.flags import DEFAULT_HOST, DEFAULT_PORT
from rating.viewer.web.server import authority, is_loopback, listen, serving

END_SECONDS = 60.0
"""Maximum seconds the pages stay up after a run, until all players have seen that it ended."""

_AT_ONCE_SECONDS = 2.0
"""Seconds within which an open page shows the end of the run."""

_LAST_ANSWER_SECONDS = 0.2
"""Seconds to send the last response."""


def open_listener(args: argparse.Namespace) -> socket.socket:
    """Returns a socket that listens on the address of the flags.

    Raises:
        OptionError: if the web packages are not installed, or the address is not available.
    """
    check_extra("pages in a browser need", "web", "starlette", "uvicorn")
    listener = listen(args.host, args.port)
    if not is_loopback(listener):
        print(
            f"llmarena: {args.host} can be reached from other machines, over a connection that everybody on the way can read; who"
            " knows an address may use it",
            file=sys.stderr,
        )
    return listener


def listener_if_asked(args: argparse.Namespace) -> AbstractContextManager[socket.socket | None]:
    """Opens the socket for the pages of a run if ``--web`` is set.

    Raises:
        OptionError: if the web packages are not installed, or the address is not available.
    """
    if not args.web:
        return nullcontext()
    return open_listener(args)


@asynccontextmanager
async def pages(
    directory: Path,
    listener: socket.socket,
    desk: Desk | None,
    people: Sequence[str],
    told: TextIO | None = None,
    *,
    board: bool = True,
) -> AsyncIterator[None]:
    """Serves the pages of a run while entered, and prints their addresses, one per line.

    Args:
        directory: run directory.
        listener: listening socket.
        desk: human input queue; ``None`` without human players.
        people: names of the human players.
        told: output stream for the addresses; ``None`` for standard output.
        board: whether to print the address of the board.
    """
    from rating.viewer.web.app import make_app
    from rating.viewer.web.links import keep_links

    links = keep_links(directory, people)
    base = f"http://{authority(listener)}"
    names = {"localhost", socket.gethostname()}
    async with serving(make_app(directory, links, names, desk), listener):
        for name in people:
            print(f"{name} plays at {base}/play/{links.people[name]}", file=told, flush=True)
        if board:
            print(f"{directory} is shown at {base}/board/{links.board}", file=told, flush=True)
        yield


async def show_end(desk: Desk) -> None:
    """Keeps the pages up until all players have seen that the run ended, for at most ``END_SECONDS``."""
    desk.end()
    if not await _all_told(desk, _AT_ONCE_SECONDS):
        print(f"The pages stay until everybody has seen the end, {END_SECONDS:g} s at most.", file=sys.stderr)
        await _all_told(desk, END_SECONDS)


async def _all_told(desk: Desk, seconds: float) -> bool:
    """Waits until all players have seen the end. Returns ``False`` on timeout."""
    try:
        async with asyncio.timeout(seconds):
            await desk.all_told()
    except TimeoutError:
        return False
    await asyncio.sleep(_LAST_ANSWER_SECONDS)
    return True


def web_flags(args: argparse.Namespace, listener: socket.socket | None) -> dict[str, str]:
    """Returns the flags, with values, that resume a run with its pages at the same address.

    Args:
        args: parsed arguments of the command.
        listener: listening socket of the pages; ``None`` without pages.
    """
    if listener is None:
        return {}
    number = listener.getsockname()[1]
    host = {} if args.host == DEFAULT_HOST else {"--host": args.host}
    port = {} if number == DEFAULT_PORT else {"--port": str(number)}
    return {"--web": "", **host, **port}
