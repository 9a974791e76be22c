"""``llmarena serve``: the pages of a run in a browser."""

import argparse
import asyncio
import contextlib
import socket
from pathlib import Path

from rating.cli import flags
from rating.cli.web import open_listener, pages
from rating.play import run_directory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_run(parser)
    flags.add_trust(parser)
    flags.add_address(parser)


def main(args: argparse.Namespace) -> None:
    """Shows a run until it is interrupted."""
    run_directory.check_exists(args.dir)
    with open_listener(args) as listener, contextlib.suppress(KeyboardInterrupt):
        args.interruptions.run(lambda: _serve(args.dir, listener))


async def _serve(directory: Path, listener: socket.socket) -> None:
    async with pages(directory, listener, None, ()):
        await asyncio.Event().wait()
