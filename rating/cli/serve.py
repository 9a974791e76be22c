"""``llmarena serve``, and the web pages of commands with ``--web``."""

import argparse
import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TextIO

from agents.human_queue import HumanQueue
from llmarena_envs.core.options import OptionError
from rating.cli import flags
from rating.play import run_directory
from rating.viewer.web.server import authority, is_loopback, listen, serving

END_SECONDS = 60.0
"""Maximum seconds the pages stay up after a run, until all players have seen its end."""

_AT_ONCE_SECONDS = 2.0
"""Seconds within which an open page shows the end of the run."""

_LAST_ANSWER_SECONDS = 0.2
"""Seconds to send the last response."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``serve``."""
    flags.add_run(parser)
    flags.add_trust(parser)
    flags.add_address(parser)


def main(args: argparse.Namespace) -> None:
    """Serves the pages of a run until it is interrupted."""
    run_directory.check_exists(args.dir)
    with _listener(args) as listener, contextlib.suppress(KeyboardInterrupt):
        args.interruptions.run(lambda: _serve(args.dir, listener))


async def _serve(directory: Path, listener: socket.socket) -> None:
    async with pages(directory, listener, None, ()):
        await asyncio.Event().wait()


def listener_if_asked(args: argparse.Namespace) -> AbstractContextManager[socket.socket | None]:
    """Opens the socket for the pages of a run if ``--web`` is set.

    Raises:
        OptionError: if the web packages are not installed, or the address is not available.
    """
    return _listener(args) if args.web else nullcontext()


def _listener(args: argparse.Namespace) -> socket.socket:
    """Returns a socket that listens on the address of the flags."""
    flags.check_extra("web pages need", "web", "starlette", "uvicorn")
    listener = _listen_on_any_port(args.host) if args.port is None else listen(args.host, args.port)
    if not is_loopback(listener):
        print(
            f"llmarena: warning: {args.host} accepts connections from other machines, without encryption; keep the printed"
            " addresses secret",
            file=sys.stderr,
        )
    return listener


def _listen_on_any_port(host: str) -> socket.socket:
    """Returns a socket that listens on the default port, or on a free one if that is taken."""
    try:
        return listen(host, flags.DEFAULT_PORT)
    except OptionError:
        return listen(host, 0)


@asynccontextmanager
async def pages(
    directory: Path,
    listener: socket.socket,
    queue: HumanQueue | None,
    people: Sequence[str],
    output: TextIO | None = None,
    *,
    board: bool = True,
) -> AsyncIterator[None]:
    """Serves the pages of a run while entered, and prints their addresses, one per line.

    Args:
        directory: run directory.
        listener: listening socket.
        queue: human input queue; ``None`` without human players.
        people: names of the human players.
        output: output stream for the addresses; ``None`` for standard output.
        board: whether to print the address of the board.
    """
    from rating.viewer.web.app import make_app
    from rating.viewer.web.links import keep_links

    links = keep_links(directory, people)
    base = f"http://{authority(listener)}"
    names = {"localhost", socket.gethostname()}
    async with serving(make_app(directory, links, names, queue), listener):
        for name in people:
            print(f"{name} plays at {base}/play/{links.people[name]}", file=output, flush=True)
        if board:
            print(f"{directory} is shown at {base}/board/{links.board}", file=output, flush=True)
        yield


async def show_end(queue: HumanQueue) -> None:
    """Keeps the pages up until all players have seen the end of the run, for at most ``END_SECONDS``."""
    queue.end()
    if not await _all_players_saw_end(queue, _AT_ONCE_SECONDS):
        print(f"The pages stay up until all players have seen the end, at most {END_SECONDS:g} s.", file=sys.stderr)
        await _all_players_saw_end(queue, END_SECONDS)


async def _all_players_saw_end(queue: HumanQueue, seconds: float) -> bool:
    """Waits until all players have seen the end. Returns ``False`` on timeout."""
    try:
        async with asyncio.timeout(seconds):
            await queue.all_told()
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
    host = {} if args.host == flags.DEFAULT_HOST else {"--host": args.host}
    port = {} if number == flags.DEFAULT_PORT else {"--port": str(number)}
    return {"--web": "", **host, **port}
